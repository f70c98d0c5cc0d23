"""Positions: tables added at a stack's input, turns and biases inside its attention."""

from __future__ import annotations

from specc.ir.exhaustive import assert_never
from specc.ir.positions import (
    Alibi,
    AttentionPosition,
    InputPosition,
    LearnedPosition,
    LinearScaling,
    Llama3Scaling,
    PositionIndex,
    ProportionalScaling,
    Rotary,
    RotaryLayout,
    RotaryScaling,
    RotarySlice,
    Sinusoidal,
    SinusoidFrequency,
    SinusoidLayout,
)
from specc.ir.sizes import Size
from specc.lower import derived, init
from specc.lower.context import Context
from specc.lower.embeddings import embedding_of, width_at
from specc.lower.names import RelativePath, Request
from specc.lower.scalings import call_scaling
from specc.spec import schema

_SCALING: RelativePath = ("position", "scaling")


def input_position(context: Context, stack: schema.Stack) -> InputPosition | None:
    """The table that a stack adds to its embeddings. Rules see to it that its layer types agree."""
    for layer in stack.types.values():
        position = layer.position
        match position:
            case schema.Sinusoidal():
                return _sinusoidal(context, position)
            case schema.Learned():
                return _learned(context, position)
            case schema.Rope() | schema.Alibi() | schema.NoPosition():
                pass
            case _:
                assert_never(position)
    return None


def _sinusoidal(context: Context, node: schema.Sinusoidal) -> Sinusoidal:
    tables = {
        layer.position
        for stack in context.spec.stacks
        for layer in stack.types.values()
        if isinstance(layer.position, schema.Sinusoidal)
    }
    prefix = "" if len(tables) == 1 else context.stack_prefix()
    return Sinusoidal(
        name=f"{prefix}position",
        size=context.max_seq_len,
        width=width_at(context, "position"),
        layout=SinusoidLayout(node.layout),
        frequency=SinusoidFrequency(node.frequency),
        index=PositionIndex(node.index),
    )


def _learned(context: Context, node: schema.Learned) -> LearnedPosition:
    return LearnedPosition(
        name=f"{context.stack_prefix()}position_embedding",
        size=context.max_seq_len,
        width=width_at(context, "position"),
        offset=node.offset,
        index=PositionIndex(node.index),
        pad_id=embedding_of(context.spec).pad_id if node.index == "ids" else None,
        init=init.table(context),
    )


def attention_position(
    context: Context, node: schema.Position, n_heads: Size, head_dim: Size
) -> AttentionPosition | None:
    """What self-attention does with positions."""
    match node:
        case schema.Rope():
            return _rotary(context, node, head_dim)
        case schema.Alibi():
            value = ("alibi", n_heads.value)
            return Alibi(_module_name(context, "alibi", value), n_heads)
        case schema.Sinusoidal() | schema.Learned() | schema.NoPosition():
            return None
        case _:
            assert_never(node)


def rotary_of(context: Context, node: schema.Position, rotary_dim: Size) -> Rotary:
    """The turn of features that all carry a position. Rules see to it that the node is rope."""
    if not isinstance(node, schema.Rope):
        raise TypeError(f"latent attention with position {node.kind}")
    return _rotary(context, node, rotary_dim)


def _rotary(context: Context, node: schema.Rope, head_dim: Size) -> Rotary:
    turned = derived.rotary_dim(node, head_dim.value)
    rotary_dim = head_dim
    if turned < head_dim.value:
        rotary_dim = context.size("rotary_dim", turned, "R", ("position", "fraction"))
    return Rotary(
        name=_module_name(context, "rotary", (node, head_dim.value)),
        size=context.max_seq_len,
        head_dim=head_dim,
        rotary_dim=rotary_dim,
        theta=context.constant("rope_theta", node.theta, ("position", "theta")),
        layout=RotaryLayout(node.layout),
        slice=RotarySlice(node.slice),
        scaling=_scaling(context, node.scaling),
        index=PositionIndex(node.index),
    )


def _module_name(context: Context, base: str, value: tuple[object, ...]) -> str:
    """Equal tables are one module; differing ones are told apart as numbers of `Config` are."""
    return context.names.ask(Request(base, value, context.scope, ()))


def _scaling(context: Context, node: schema.Scaling | None) -> RotaryScaling | None:
    match node:
        case None:
            return None
        case schema.LinearScaling():
            return LinearScaling(
                context.constant("rope_factor", node.factor, (*_SCALING, "factor"))
            )
        case schema.Llama3Scaling():
            return _llama3(context, node)
        case schema.DynamicScaling() | schema.YarnScaling() | schema.LongRopeScaling():
            return call_scaling(context, node)
        case schema.ProportionalScaling():
            return ProportionalScaling()
        case _:
            assert_never(node)


def _llama3(context: Context, node: schema.Llama3Scaling) -> Llama3Scaling:
    low, high = "low_freq_factor", "high_freq_factor"
    original = "original_max_seq_len"
    name = f"rope_{original}"
    return Llama3Scaling(
        factor=context.constant("rope_factor", node.factor, (*_SCALING, "factor")),
        low_freq_factor=context.constant(f"rope_{low}", node.low_freq_factor, (*_SCALING, low)),
        high_freq_factor=context.constant(f"rope_{high}", node.high_freq_factor, (*_SCALING, high)),
        original_max_seq_len=context.size(
            name, node.original_max_seq_len, name, (*_SCALING, original)
        ),
    )
