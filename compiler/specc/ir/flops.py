"""The floating-point operations of a model's matrix products, from the IR alone.

An m x k by k x n product is 2mkn. Attention products are whole rectangles, queries by keys, with
all query heads, whatever the mask hides; only the chosen experts count, exactly top_k a token.
Biases, norms, activations, softmax and look-ups are left out, as `torch.utils.flop_counter` does.
"""

from __future__ import annotations

from specc.ir.attention import (
    Attention,
    FusedProjection,
    LatentAttention,
    LowRank,
    SeparateProjections,
)
from specc.ir.block import Sublayer
from specc.ir.calls import Call
from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import FeedForward, Glu, MixtureOfExperts, Mlp
from specc.ir.heads import (
    ClassifierHead,
    FeaturesHead,
    Head,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Tied,
)
from specc.ir.layers import Linear

BACKWARD = 2  # for each product: the gradient of either factor is a product as large


def linear_flops(part: Linear, rows: int) -> int:
    """One linear map of `rows` vectors."""
    return 2 * rows * part.inputs.value * part.outputs.value


def sublayer_flops(part: Sublayer, call: Call) -> int:
    """The attention or feed-forward of one sublayer."""
    match part.body:
        case Attention():
            return attention_flops(part.body, call)
        case LatentAttention():
            return latent_attention_flops(part.body, call)
        case _:
            return feed_forward_flops(part.body, call.tokens)


def attention_flops(part: Attention, call: Call) -> int:
    """The maps, then q k^T and the weighted sum of v: 2*T*S*E each, for every query head."""
    rows, sources = call.tokens, call.projected(part)
    match part.projections:
        case SeparateProjections(q, k, v):
            maps = linear_flops(q, rows) + linear_flops(k, sources) + linear_flops(v, sources)
        case FusedProjection(qkv):
            maps = linear_flops(qkv, rows)
        case _:
            assert_never(part.projections)
    maps += linear_flops(part.output, rows)
    if part.gate is not None:
        maps += linear_flops(part.gate.projection, rows)
    heads = part.n_heads.value * part.head_dim.value
    return maps + 2 * 2 * rows * call.keys(part) * heads


def latent_attention_flops(part: LatentAttention, call: Call) -> int:
    """The maps, of which kv_up unfolds every latent so far, then both products."""
    rows, keys = call.tokens, call.keys(part)
    match part.q:
        case Linear():
            maps = linear_flops(part.q, rows)
        case LowRank(down, _, up):
            maps = linear_flops(down, rows) + linear_flops(up, rows)
        case _:
            assert_never(part.q)
    maps += linear_flops(part.kv_down, rows) + linear_flops(part.kv_up, call.batch * keys)
    maps += linear_flops(part.output, rows)
    widths = part.nope_dim.value + part.rotary_dim.value + part.value_dim.value
    return maps + 2 * rows * keys * part.n_heads.value * widths


def feed_forward_flops(part: FeedForward, rows: int) -> int:
    """The two or three maps; of a mixture the router, the chosen experts and the shared one."""
    match part:
        case Mlp():
            return linear_flops(part.up, rows) + linear_flops(part.down, rows)
        case Glu():
            return sum(linear_flops(linear, rows) for linear in (part.gate, part.up, part.down))
        case MixtureOfExperts():
            return _mixture(part, rows)
        case _:
            assert_never(part)


def _mixture(part: MixtureOfExperts, rows: int) -> int:
    found = linear_flops(part.router.linear, rows)
    one = 3 * 2 * part.experts.d_model.value * part.experts.d_ff.value
    found += rows * part.router.top_k.value * one
    if part.shared is not None:
        found += feed_forward_flops(part.shared.body, rows)
        if part.shared.gate is not None:
            found += linear_flops(part.shared.gate, rows)
    return found


def head_work(head: Head, call: Call) -> dict[str, int]:
    """A head's maps by module name, over all places or over one pooled vector a text.

    A tied matrix costs nothing to keep and as much to multiply with: it goes by the output's name.
    """
    match head:
        case LanguageModelHead():
            project = () if head.project is None else (head.project,)
            maps = {linear.name: linear_flops(linear, call.tokens) for linear in project}
            return {**maps, **_projection(head, call.tokens)}
        case MaskedLanguageModelHead():
            dense = {head.dense.name: linear_flops(head.dense, call.tokens)}
            return {**dense, **_projection(head, call.tokens)}
        case ClassifierHead():
            pooler = () if head.pooler is None else (head.pooler.dense,)
            linears = (*pooler, head.projection)
            return {linear.name: linear_flops(linear, call.batch) for linear in linears}
        case FeaturesHead():
            return {}
        case _:
            assert_never(head)


def _projection(head: LanguageModelHead | MaskedLanguageModelHead, rows: int) -> dict[str, int]:
    match head.projection:
        case Linear():
            return {head.projection.name: linear_flops(head.projection, rows)}
        case Tied(embedding):
            return {head.output_name: 2 * rows * embedding.rows.value * embedding.width.value}
        case _:
            assert_never(head.projection)
