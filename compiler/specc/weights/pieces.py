"""A model's parameters as a layout speaks of them: queries, keys and values always apart.

Each piece knows its path and shape and what an order of rows depends on: heads, the features that
turn, whether it stacks experts, and what its gain is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from specc.ir.attention import (
    Attention,
    FusedProjection,
    LatentAttention,
    LowRank,
    NormOver,
    QkNorm,
)
from specc.ir.block import TokenInput
from specc.ir.feed_forward import MixtureOfExperts
from specc.ir.init import ONES, ZEROS
from specc.ir.layers import Linear, NormWeight
from specc.ir.model import Model
from specc.ir.parameters import Parameter, parameters
from specc.ir.positions import (
    LearnedPosition,
    ProportionalScaling,
    Rotary,
    RotaryLayout,
    RotarySlice,
)
from specc.weights.steps import Named, TurnPairs


@dataclass(frozen=True)
class Heads:
    """How many heads of queries, and of keys and values, one attention has."""

    queries: int
    keys: int


@dataclass(frozen=True)
class Piece:
    """One tensor of ours, or one of the maps that a fused tensor of ours holds.

    `turn` re-pairs its rotary features for a layout that pairs them otherwise.
    """

    named: Named
    heads: Heads | None = None
    turn: TurnPairs | None = None
    gain: NormWeight | None = None
    stacks_experts: bool = False
    offset: int | None = None  # rows before the first position, of a table of positions


@dataclass(frozen=True)
class Pieces:
    """All pieces by path, and the paths that each fused tensor of ours holds, in order."""

    by_path: dict[str, Piece]
    fused: dict[Named, tuple[str, ...]]


def pieces(model: Model) -> Pieces:
    """Every parameter of the model."""
    bodies = dict(_bodies(model))
    fused: dict[Named, tuple[str, ...]] = {}
    found: dict[str, Piece] = {}
    for parameter in parameters(model):
        named = Named(parameter.path, parameter.shape)
        prefix, body = _owner(bodies, parameter.path)
        if isinstance(body, Attention) and _is_fused(body, parameter.path, prefix):
            parts = tuple(_apart(body, named))
            fused[named] = tuple(part.name for part in parts)
        else:
            parts = (named,)
        for part in parts:
            piece = Piece(part, gain=_gain(parameter))
            found[part.name] = _informed(piece, body, part.name.removeprefix(prefix))
    for table in _tables(model):
        path = f"{table.name}.weight"
        found[path] = replace(found[path], offset=table.offset)
    return Pieces(found, fused)


def _bodies(model: Model) -> Iterator[tuple[str, object]]:
    """Module path, dot included -> attention or mixture."""
    for stack in model.stacks:
        for i, layer in enumerate(stack.layers):
            for sublayer in layer.block.sublayers:
                yield f"{stack.layers_name}.{i}.{sublayer.name}.", sublayer.body


def _owner(bodies: dict[str, object], path: str) -> tuple[str, object]:
    """The sublayer that a parameter belongs to; ("", None) if to none."""
    prefix = "".join(f"{part}." for part in path.split(".")[:3])
    return (prefix, bodies[prefix]) if prefix in bodies else ("", None)


def _tables(model: Model) -> Iterator[LearnedPosition]:
    for stack in model.stacks:
        if isinstance(stack.input, TokenInput) and isinstance(
            stack.input.position, LearnedPosition
        ):
            yield stack.input.position


def _is_fused(body: Attention, path: str, prefix: str) -> bool:
    part = body.projections
    return isinstance(part, FusedProjection) and path.startswith(f"{prefix}{part.qkv.name}.")


def _apart(body: Attention, fused: Named) -> Iterator[Named]:
    """q_proj, k_proj and v_proj of a fused weight or bias."""
    module, _, kind = fused.name.rpartition(".")
    prefix = module.rpartition(".")[0]
    queries = body.n_heads.value * body.head_dim.value
    keys = body.n_kv_heads.value * body.head_dim.value
    for name, rows in (("q_proj", queries), ("k_proj", keys), ("v_proj", keys)):
        yield Named(f"{prefix}.{name}.{kind}", (rows, *fused.shape[1:]))


def _gain(parameter: Parameter) -> NormWeight | None:
    """What a norm's gain is: all of them start at a fixed value, as no matrix does."""
    if not parameter.path.endswith(".weight"):
        return None
    if parameter.init == ONES:
        return NormWeight.PLAIN
    return NormWeight.ONE_PLUS if parameter.init == ZEROS else None


def _informed(piece: Piece, body: object, inside: str) -> Piece:
    """The piece with what its sublayer says of it; `inside` is its path in there."""
    match body:
        case Attention():
            heads = Heads(body.n_heads.value, body.n_kv_heads.value)
            return replace(piece, heads=heads, turn=_turn(body, inside))
        case LatentAttention():
            return replace(piece, turn=_latent_turn(body, inside))
        case MixtureOfExperts():
            stacked = (body.experts.gate, body.experts.up, body.experts.down)
            names = {*stacked, *(f"{name}_bias" for name in stacked)}
            return replace(piece, stacks_experts=inside in names)
        case _:
            return piece


def _turn(body: Attention, inside: str) -> TurnPairs | None:
    """How rows of queries, keys and their gains follow the pairs that turn."""
    if not isinstance(body.position, Rotary):
        return None
    axes = {f"{name}.{kind}": 0 for name in ("q_proj", "k_proj") for kind in ("weight", "bias")}
    if isinstance(body.qk_norm, QkNorm):
        axis = 1 if body.qk_norm.over is NormOver.PER_HEAD else 0
        for norm in (body.qk_norm.q, body.qk_norm.k):
            axes |= {f"{norm.name}.{kind}": axis for kind in ("weight", "bias")}
    if inside not in axes:
        return None
    part, width = body.position, body.head_dim.value
    whole = isinstance(part.scaling, ProportionalScaling)
    turned = width if whole else part.rotary_dim.value
    return TurnPairs(0, axes[inside], width, turned, part.slice, _is_half(part))


def _latent_turn(body: LatentAttention, inside: str) -> TurnPairs | None:
    """A head's rotary features stand behind its others; the shared key's behind the latent."""
    rotary = body.rotary_dim.value
    queries = body.q.up if isinstance(body.q, LowRank) else body.q
    widths = {
        queries: body.nope_dim.value + rotary,
        body.kv_down: body.kv_rank.value + rotary,
    }
    found = {_path(part, kind): width for part, width in widths.items() for kind in _KINDS}
    if inside not in found:
        return None
    half = _is_half(body.position)
    return TurnPairs(0, 0, found[inside], rotary, RotarySlice.LAST, half)


_KINDS = ("weight", "bias")


def _path(part: Linear, kind: str) -> str:
    return f"{part.name}.{kind}"


def _is_half(part: Rotary) -> bool:
    return part.layout is RotaryLayout.HALF
