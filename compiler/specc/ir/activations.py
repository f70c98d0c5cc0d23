"""What the forward pass of a training step leaves for the backward pass, as a closed form.

Counted, each once: what enters a linear map, a product of attention, a norm or an activation
function; both factors of a product of two features (a gate and what it opens, an expert's output
and its weight, a learned gain); attention weights only where a spec's softcap or sinks spell them
out, for a fused kernel keeps one float32 a query and head in their place; a byte for each value
that a dropout may take; and the outputs, which the loss reads. Not counted: weights, their
gradients, the optimizer, tables and masks of places, and what elementwise steps between these
leave: those can be done again, or are fused.
"""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.attention import (
    Attention,
    AttentionSource,
    LatentAttention,
    LowRank,
    QkL2Norm,
    QkNorm,
)
from specc.ir.block import Block, Stack, Sublayer, TokenInput, Wiring
from specc.ir.calls import Call
from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import FeedForward, Glu, MixtureOfExperts, Mlp, Score
from specc.ir.heads import (
    ClassifierHead,
    FeaturesHead,
    Head,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Pool,
    Tied,
)
from specc.ir.layers import Dropout, Linear
from specc.ir.model import Model
from specc.ir.walk import walk

FLOAT32 = 4


@dataclass(frozen=True)
class Kept:
    """Numbers in the dtype of the training, numbers in float32, and bytes of dropout masks."""

    numbers: int = 0
    float32: int = 0
    masks: int = 0

    def __add__(self, other: Kept) -> Kept:
        return Kept(
            self.numbers + other.numbers,
            self.float32 + other.float32,
            self.masks + other.masks,
        )

    def bytes(self, itemsize: int) -> int:
        """The memory, in a dtype of `itemsize` bytes."""
        return itemsize * self.numbers + FLOAT32 * self.float32 + self.masks


def activations(model: Model, call: Call) -> Kept:
    """What one training step on these texts keeps."""
    found = Kept()
    for stack in model.stacks:
        within = call.within(model, stack)
        if within is not None:
            found += _stack(stack, within)
    last = model.stacks[-1]
    if _reads_memory(last):
        found += Kept(call.batch * call.source * _width(last))
    return found + _heads(model.heads, call, _width(last))


def _width(stack: Stack) -> int:
    """The width of the stream, D."""
    return stack.layer_types[0].block.sublayers[0].body.d_model.value


def _reads_memory(stack: Stack) -> bool:
    parts = (part for part in walk(stack.layer_types) if isinstance(part, Attention))
    return any(part.source is AttentionSource.MEMORY for part in parts)


def _stack(stack: Stack, call: Call) -> Kept:
    """The input, the layers, and what the final norm reads."""
    found = Kept()
    if isinstance(stack.input, TokenInput):
        found += _input(stack.input, call.tokens)
    for layer in stack.layers:
        found += _block(layer.block, call, call.tokens * _width(stack))
    if stack.final_norm is not None:
        found += Kept(call.tokens * _width(stack))
    return found


def _input(part: TokenInput, rows: int) -> Kept:
    found = 0 if part.project is None else part.project.linear.inputs.value
    found += 0 if part.norm is None else part.norm.width.value
    width = part.embedding.width if part.project is None else part.project.linear.outputs
    return Kept(rows * found) + _dropped(part.dropout, rows * width.value)


def _block(block: Block, call: Call, stream: int) -> Kept:
    """`stream` are the numbers of x. Parallel sublayers read one x, and one norm if it is one."""
    is_parallel = block.wiring is Wiring.PARALLEL
    norms = {part.pre.name for part in block.sublayers if part.pre is not None}
    normed = len(norms) if is_parallel else sum(part.pre is not None for part in block.sublayers)
    read = 1 if is_parallel else len(block.sublayers)
    found = Kept(stream * (read + normed))
    for part in block.sublayers:
        found += _body(part, call)
        later = (part.post, part.layer_scale, part.out)
        found += Kept(stream * sum(each is not None for each in later))
    return found


def _body(part: Sublayer, call: Call) -> Kept:
    match part.body:
        case Attention():
            return _attention(part.body, call)
        case LatentAttention():
            return _latent(part.body, call)
        case _:
            return _feed_forward(part.body, call.tokens)


def _dropped(part: Dropout | None, count: int) -> Kept:
    return Kept() if part is None else Kept(masks=count)


def _attention(part: Attention, call: Call) -> Kept:
    """q, k and v as they are projected, if anything reads them, and as they are multiplied."""
    is_self = part.source is AttentionSource.SELF
    heads, head = part.n_heads.value, part.head_dim.value
    q = call.tokens * heads * head
    places = call.tokens if is_self else call.batch * call.source
    k = places * part.n_kv_heads.value * head
    numbers = 0 if part.clip is None else q + 2 * k
    match part.qk_norm:
        case QkNorm():
            numbers += q + k
        case QkL2Norm(_, temperature):
            numbers += q + k + (0 if temperature is None else q)
        case None:
            pass
        case _:
            assert_never(part.qk_norm)
    found = Kept(numbers) + _product(part, call, q, k, places * heads * head)
    if part.gate is not None:
        found += Kept(2 * q)  # the gate and the heads, besides their product
    return found + _dropped(part.output_dropout, call.tokens * part.d_model.value)


def _product(part: Attention, call: Call, q: int, k: int, repeated: int) -> Kept:
    """q, k, v and the merged heads; `repeated` are keys that every query head has a copy of."""
    queries = call.tokens * part.n_heads.value
    if part.softcap is None and part.sinks is None:
        return Kept(2 * q + 2 * k, float32=queries)
    scores = queries * call.keys(part)
    capped = 0 if part.softcap is None else scores
    weights = scores if part.dropout is None else 2 * scores
    return Kept(2 * q + 2 * repeated + capped + weights) + _dropped(part.dropout, scores)


def _latent(part: LatentAttention, call: Call) -> Kept:
    """The latents before and after their norms, then q, k, v and the heads as they are unfolded."""
    rows, heads = call.tokens, part.n_heads.value
    widths = 2 * part.kv_rank.value
    if isinstance(part.q, LowRank):
        widths += 2 * part.q.down.outputs.value
    key = part.nope_dim.value + part.rotary_dim.value
    widths += heads * (2 * key + 2 * part.value_dim.value)
    found = Kept(rows * widths, float32=rows * heads)
    return found + _dropped(part.output_dropout, rows * part.d_model.value)


def _feed_forward(part: FeedForward, rows: int) -> Kept:
    """What enters the activation, what stands beside it, and what enters the last map."""
    match part:
        case Mlp():
            widths = 2 * part.d_ff.value
        case Glu():
            widths = 3 * part.d_ff.value
        case MixtureOfExperts():
            return _mixture(part, rows)
        case _:
            assert_never(part)
    found = Kept(rows * widths) + _dropped(part.hidden_dropout, rows * part.d_ff.value)
    return found + _dropped(part.output_dropout, rows * part.d_model.value)


def _mixture(part: MixtureOfExperts, rows: int) -> Kept:
    """What the router scores, and for each chosen expert its token, its features, its output."""
    router, experts, width = part.router, part.experts, part.d_model.value
    chosen = rows * router.top_k.value
    is_late = router.score is Score.TOPK_SOFTMAX
    scores = chosen if is_late else rows * router.n_experts.value
    # Beside the token: its output, or as the experts read it, whichever a weight multiplies.
    found = Kept(scores + chosen * (2 * width + 3 * experts.d_ff.value))
    if part.shared is not None:
        found += _feed_forward(part.shared.body, rows)
        if part.shared.gate is not None:
            found += Kept(rows * (1 + width))
    return found + _dropped(part.output_dropout, rows * width)


def _heads(heads: tuple[Head, ...], call: Call, width: int) -> Kept:
    """What each head's maps read, the last features once, and the outputs."""
    reads = any(_reads_features(head) for head in heads)
    found = Kept(call.tokens * width if reads else 0)
    for head in heads:
        found += Kept(_head(head, call, width, is_read=reads))
    return found


def _reads_features(head: Head) -> bool:
    """Whether all places of the last features are kept as they are."""
    match head:
        case LanguageModelHead():
            return head.in_scale is None
        case ClassifierHead():
            return False
        case MaskedLanguageModelHead() | FeaturesHead():
            return True
        case _:
            assert_never(head)


def _head(head: Head, call: Call, width: int, *, is_read: bool) -> int:
    match head:
        case LanguageModelHead():
            rows = _rows(head.projection)
            outputs = rows if head.vocab_size is None else head.vocab_size.value
            numbers = outputs if head.softcap is None else 2 * outputs
            numbers += 0 if head.in_scale is None else width
            numbers += 0 if head.project is None else head.project.outputs.value
            return call.tokens * numbers
        case MaskedLanguageModelHead():
            return call.tokens * (3 * head.dense.outputs.value + _rows(head.projection))
        case ClassifierHead():
            is_view = is_read and head.pool is Pool.FIRST
            numbers = (0 if is_view else width) + head.n_classes.value
            numbers += 0 if head.pooler is None else 2 * head.pooler.dense.outputs.value
            return call.batch * numbers
        case FeaturesHead():
            return 0
        case _:
            assert_never(head)


def _rows(part: Tied | Linear) -> int:
    """The rows of a vocabulary."""
    return part.embedding.rows.value if isinstance(part, Tied) else part.outputs.value
