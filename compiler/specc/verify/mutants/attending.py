"""Mistakes with attention: scale, direction, projections, query and key norms."""

from __future__ import annotations

from dataclasses import replace

from specc.ir.attention import (
    Attention,
    AttentionSource,
    Chunk,
    Factor,
    FusedProjection,
    InverseSqrt,
    NormOver,
    QkL2Norm,
    QkNorm,
    Scale,
    SeparateProjections,
    Unscaled,
)
from specc.ir.layers import Linear
from specc.ir.model import Kind, Model
from specc.ir.positions import Alibi
from specc.ir.sizes import Constant, width
from specc.verify.mutants.mutant import Mutant, dropped, each, rewritten, scaled
from specc.verify.mutants.reach import QK_TURNS, SCORES


def with_scale(name: str, kind: type[Scale], scale: Scale | None) -> Mutant:
    """Attention whose scale is of one kind, scaled otherwise; None: by its own d_model."""

    def change(part: Attention) -> Attention:
        if not isinstance(part.scale, kind):
            return part
        return replace(part, scale=InverseSqrt(part.d_model) if scale is None else scale)

    return replace(each("", Attention, change), name=f"{kind.__name__}: {name}")


def _anticausal(part: Attention) -> Attention:
    """Not where code knows one direction only: a cache with biases, chunks (see code mutants)."""
    one_way = part.cached and isinstance(part.position, Alibi)
    if part.source is AttentionSource.MEMORY or one_way or isinstance(part.reach, Chunk):
        return part
    return replace(part, causal=not part.causal)


def _other_direction(model: Model) -> Model | None:
    """Not of a set, which has no order."""
    if model.kind is Kind.FEATURES:
        return None
    return rewritten(model, Attention, _anticausal)


def _renamed(linear: Linear, name: str) -> Linear:
    return replace(linear, name=name)


def _q_for_k(part: SeparateProjections) -> SeparateProjections:
    return replace(part, q=_renamed(part.q, part.k.name), k=_renamed(part.k, part.q.name))


def _k_for_v(part: SeparateProjections) -> SeparateProjections:
    return replace(part, k=_renamed(part.k, part.v.name), v=_renamed(part.v, part.k.name))


def bias_of(field: str) -> Mutant:
    """One projection with a bias where it has none, or without the one it has."""

    def change(part: SeparateProjections) -> SeparateProjections:
        linear = vars(part)[field]
        return replace(part, **{field: replace(linear, bias=not linear.bias)})

    return each(f"bias of {field} flipped", SeparateProjections, change)


def _fused_bias(part: FusedProjection) -> FusedProjection:
    return replace(part, qkv=replace(part.qkv, bias=not part.qkv.bias))


def _without(kind: type[QkNorm | QkL2Norm]) -> Mutant:
    def change(part: Attention) -> Attention:
        return replace(part, qk_norm=None) if isinstance(part.qk_norm, kind) else part

    return replace(each("", Attention, change), name=f"{kind.__name__}: left out")


def _over_other(part: Attention) -> Attention:
    """Norms over the full width in place of each head, or the other way round."""
    norm = part.qk_norm
    if not isinstance(norm, QkNorm):
        return part
    if norm.over is NormOver.FULL:
        q_width = k_width = width(part.head_dim)
        over, after_turn = NormOver.HEAD, norm.after_turn
    else:
        q_width = width(part.n_heads, part.head_dim)
        k_width = width(part.n_kv_heads, part.head_dim)
        over, after_turn = NormOver.FULL, False
    q, k = replace(norm.q, width=q_width, heads=None), replace(norm.k, width=k_width, heads=None)
    return replace(part, qk_norm=QkNorm(over, after_turn, q, k))


ATTENTION = (
    Mutant("Attention: causal flipped", _other_direction),
    dropped(Attention, "output_dropout"),
    *SCORES,
)

SCALES: dict[str, tuple[Mutant, ...]] = {
    "InverseSqrt": (
        with_scale("by the root of d_model", InverseSqrt, None),
        with_scale("no scale", InverseSqrt, Unscaled()),
    ),
    "Factor": (
        scaled(Factor, "value", 2),
        with_scale("no scale", Factor, Unscaled()),
        with_scale("by the root of d_model", Factor, None),
    ),
    "Unscaled": (
        with_scale("by the root of d_model", Unscaled, None),
        with_scale("halved", Unscaled, Factor(Constant("attention_scale", 0.5))),
    ),
}

PROJECTIONS: dict[str, tuple[Mutant, ...]] = {
    "SeparateProjections": (
        each("q and k exchanged", SeparateProjections, _q_for_k),
        each("k and v exchanged", SeparateProjections, _k_for_v),
        *(bias_of(field) for field in ("q", "k", "v")),
    ),
    "FusedProjection": (each("bias flipped", FusedProjection, _fused_bias),),
}

QK_NORMS: dict[str, tuple[Mutant, ...]] = {
    "QkNorm": (
        _without(QkNorm),
        replace(each("", Attention, _over_other), name="QkNorm: over the other width"),
        *QK_TURNS,
    ),
    "QkL2Norm": (
        _without(QkL2Norm),
        scaled(QkL2Norm, "eps", 10),
        dropped(QkL2Norm, "temperature"),
    ),
}
