"""The trained tensors of a model: path in the `state_dict`, shape and initialisation, from the IR
alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from specc.ir.attention import (
    Attention,
    FusedProjection,
    LatentAttention,
    LowRank,
    QkL2Norm,
    QkNorm,
    SeparateProjections,
)
from specc.ir.block import Block, Embedding, Stack, TokenInput
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
from specc.ir.init import ONES, ZEROS, Init
from specc.ir.layers import LayerNorm, Linear, Norm, NormWeight, RmsNorm
from specc.ir.model import Model
from specc.ir.positions import LearnedPosition


@dataclass(frozen=True)
class Parameter:
    """One trained tensor."""

    path: str
    shape: tuple[int, ...]
    init: Init
    trained: bool = True  # False: a persistent buffer of the state_dict
    is_vectors: bool = False  # rows are vectors (gains of heads, biases of experts), no matrix

    @property
    def count(self) -> int:
        return prod(self.shape)


def parameters(model: Model) -> tuple[Parameter, ...]:
    """Every parameter once: a shared or tied tensor has one path."""
    found: dict[str, Parameter] = {}
    for parameter in _model(model):
        found.setdefault(parameter.path, parameter)
    return tuple(found.values())


def parameter_count(model: Model) -> int:
    """The closed form that the live module must equal; buffers are not counted."""
    return sum(parameter.count for parameter in parameters(model) if parameter.trained)


def _model(model: Model) -> Iterator[Parameter]:
    for stack in model.stacks:
        yield from _stack(stack)
    for head in model.heads:
        yield from _head(head)


def _stack(stack: Stack) -> Iterator[Parameter]:
    if isinstance(stack.input, TokenInput):
        yield from _input(stack.input)
    for i, layer in enumerate(stack.layers):
        yield from _block(layer.block, f"{stack.layers_name}.{i}.")
    if stack.final_norm is not None:
        yield from norm_parameters(stack.final_norm, "")


def _input(part: TokenInput) -> Iterator[Parameter]:
    yield from _embedding(part.embedding)
    if part.types is not None:
        yield from _embedding(part.types)
    if isinstance(part.position, LearnedPosition):
        table = part.position
        shape = (table.size.value + table.offset, table.width.value)
        yield Parameter(f"{table.name}.weight", shape, table.init)
    if part.project is not None:
        yield from linear_parameters(part.project.linear, "")
    if part.norm is not None:
        yield from norm_parameters(part.norm, "")


def _embedding(part: Embedding) -> Iterator[Parameter]:
    yield Parameter(f"{part.name}.weight", (part.rows.value, part.width.value), part.init)


def _block(block: Block, prefix: str) -> Iterator[Parameter]:
    for sublayer in block.sublayers:
        for norm in (sublayer.pre, sublayer.post, sublayer.out):
            if norm is not None:
                yield from norm_parameters(norm, prefix)
        if sublayer.layer_scale is not None:
            part = sublayer.layer_scale
            yield Parameter(prefix + part.name, (part.width.value,), part.init)
        body, inside = sublayer.body, f"{prefix}{sublayer.name}."
        match body:
            case Attention():
                yield from attention_parameters(body, inside)
            case LatentAttention():
                yield from latent_attention_parameters(body, inside)
            case _:
                yield from feed_forward_parameters(body, inside)


def attention_parameters(part: Attention, prefix: str) -> Iterator[Parameter]:
    """The parameters of one attention whose module path is `prefix`, dot included."""
    match part.projections:
        case SeparateProjections(q, k, v):
            for linear in (q, k, v):
                yield from linear_parameters(linear, prefix)
        case FusedProjection(qkv):
            yield from linear_parameters(qkv, prefix)
        case _:
            assert_never(part.projections)
    yield from linear_parameters(part.output, prefix)
    match part.qk_norm:
        case QkNorm(_, _, q_norm, k_norm):
            yield from norm_parameters(q_norm, prefix)
            yield from norm_parameters(k_norm, prefix)
        case QkL2Norm(_, temperature):
            if temperature is not None:
                shape = (temperature.n_heads.value,)
                yield Parameter(prefix + temperature.name, shape, temperature.init)
        case None:
            pass
        case _:
            assert_never(part.qk_norm)
    if part.sinks is not None:
        yield Parameter(prefix + part.sinks.name, (part.sinks.n_heads.value,), part.sinks.init)
    if part.gate is not None:
        yield from linear_parameters(part.gate.projection, prefix)


def latent_attention_parameters(part: LatentAttention, prefix: str) -> Iterator[Parameter]:
    """The parameters of one latent attention whose module path is `prefix`, dot included."""
    match part.q:
        case Linear():
            yield from linear_parameters(part.q, prefix)
        case LowRank(down, norm, up):
            yield from linear_parameters(down, prefix)
            yield from norm_parameters(norm, prefix)
            yield from linear_parameters(up, prefix)
        case _:
            assert_never(part.q)
    yield from linear_parameters(part.kv_down, prefix)
    yield from norm_parameters(part.kv_norm, prefix)
    yield from linear_parameters(part.kv_up, prefix)
    yield from linear_parameters(part.output, prefix)


def feed_forward_parameters(part: FeedForward, prefix: str) -> Iterator[Parameter]:
    """The parameters of one feed-forward whose module path is `prefix`, dot included."""
    match part:
        case Mlp():
            linears: tuple[Linear, ...] = (part.up, part.down)
        case Glu():
            linears = (part.gate, part.up, part.down)
        case MixtureOfExperts():
            yield from _mixture(part, prefix)
            return
        case _:
            assert_never(part)
    for linear in linears:
        yield from linear_parameters(linear, prefix)


def _mixture(part: MixtureOfExperts, prefix: str) -> Iterator[Parameter]:
    router, experts = part.router, part.experts
    yield from linear_parameters(router.linear, prefix)
    count, model, hidden = experts.n_experts.value, experts.d_model.value, experts.d_ff.value
    if router.selection_bias is not None:
        yield Parameter(prefix + router.selection_bias, (count,), ZEROS, trained=False)
    for name in (experts.gate, experts.up):
        yield Parameter(prefix + name, (count, hidden, model), experts.init)
        if experts.bias:
            yield _biases(f"{prefix}{name}_bias", (count, hidden), experts.bias_init)
    yield Parameter(prefix + experts.down, (count, model, hidden), experts.down_init)
    if experts.bias:
        yield _biases(f"{prefix}{experts.down}_bias", (count, model), experts.bias_init)
    if part.shared is not None:
        yield from feed_forward_parameters(part.shared.body, f"{prefix}{part.shared.name}.")
        if part.shared.gate is not None:
            yield from linear_parameters(part.shared.gate, prefix)


def _biases(path: str, shape: tuple[int, int], init: Init) -> Parameter:
    """One bias for each expert."""
    return Parameter(path, shape, init, is_vectors=True)


def linear_parameters(part: Linear, prefix: str) -> Iterator[Parameter]:
    """The weight [outputs, inputs] and, if there is one, the bias [outputs]."""
    shape = (part.outputs.value, part.inputs.value)
    yield Parameter(f"{prefix}{part.name}.weight", shape, part.init)
    if part.bias:
        yield Parameter(f"{prefix}{part.name}.bias", shape[:1], part.bias_init)


def norm_parameters(part: Norm, prefix: str) -> Iterator[Parameter]:
    """The gain and, for a layer norm, the shift."""
    shape: tuple[int, ...] = (part.width.value,)
    by_head = part.heads is not None
    if part.heads is not None:
        shape = (part.heads.value, part.width.value)
    match part.weight:
        case NormWeight.PLAIN:
            yield Parameter(f"{prefix}{part.name}.weight", shape, ONES, is_vectors=by_head)
        case NormWeight.ONE_PLUS:
            yield Parameter(f"{prefix}{part.name}.weight", shape, ZEROS, is_vectors=by_head)
        case NormWeight.NONE:
            pass
        case _:
            assert_never(part.weight)
    match part:
        case LayerNorm(bias=True):
            yield Parameter(f"{prefix}{part.name}.bias", shape, ZEROS, is_vectors=by_head)
        case LayerNorm() | RmsNorm():
            pass
        case _:
            assert_never(part)


def _head(head: Head) -> Iterator[Parameter]:
    match head:
        case LanguageModelHead():
            if head.project is not None:
                yield from linear_parameters(head.project, "")
            yield from _projection(head.projection)
        case MaskedLanguageModelHead():
            yield from linear_parameters(head.dense, "")
            yield from norm_parameters(head.norm, "")
            yield from _projection(head.projection)
        case ClassifierHead():
            if head.pooler is not None:
                yield from linear_parameters(head.pooler.dense, "")
            yield from linear_parameters(head.projection, "")
        case FeaturesHead():
            pass
        case _:
            assert_never(head)


def _projection(part: Tied | Linear) -> Iterator[Parameter]:
    match part:
        case Linear():
            yield from linear_parameters(part, "")
        case Tied(embedding, bias_name):
            if bias_name is not None:
                yield Parameter(bias_name, (embedding.rows.value,), ZEROS)
        case _:
            assert_never(part)
