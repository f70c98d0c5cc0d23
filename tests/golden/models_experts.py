"""Small IRs of mixtures of experts and of blocks, inputs and heads with rarer parts."""

from __future__ import annotations

from specc.ir.block import Embedding, ProjectAt, Projection
from specc.ir.feed_forward import (
    Apply,
    Clamp,
    Experts,
    Glu,
    GroupFill,
    Groups,
    GroupScore,
    MixtureOfExperts,
    Router,
    Score,
    SharedExpert,
)
from specc.ir.init import ZEROS
from specc.ir.layers import Activation, Dropout, DropoutSite
from specc.ir.sizes import Constant, Size, width
from tests.golden.models import D_FF, D_MODEL, INIT, VOCAB, linear

N_EXPERTS = Size("n_experts", 8, "X")
TOP_K = Size("top_k", 3, "T")
EXPERT_D_FF = Size("expert_d_ff", 10, "F")
SHARED_D_FF = Size("shared_d_ff", 14, "G")
NARROW = Size("embedding_width", 5, "W")


def clamp(alpha: float = 1.702, limit: float = 7.0, up_offset: float = 1.0) -> Clamp:
    return Clamp(
        Constant("clamp_alpha", alpha),
        Constant("clamp_limit", limit),
        Constant("clamp_up_offset", up_offset),
    )


def groups(
    n_groups: int = 4,
    n_kept: int = 2,
    score: GroupScore = GroupScore.TOP2_SUM,
    fill: GroupFill = GroupFill.MINUS_INFINITY,
) -> Groups:
    return Groups(Size("n_groups", n_groups, "P"), Size("n_kept_groups", n_kept, "Q"), score, fill)


def router(
    score: Score = Score.SOFTMAX,
    *,
    n_experts: Size = N_EXPERTS,
    top_k: int = TOP_K.value,
    bias: bool = False,
    selection_bias: bool = False,
    groups: Groups | None = None,
    renormalise: bool = False,
    renorm_eps: float | None = None,
    scale: float | None = None,
    apply: Apply = Apply.OUTPUT,
) -> Router:
    return Router(
        linear("router", width(D_MODEL), width(n_experts), bias),
        n_experts,
        Size("top_k", top_k, "T"),
        score,
        "selection_bias" if selection_bias else None,
        groups,
        renormalise,
        None if renorm_eps is None else Constant("router_renorm_eps", renorm_eps),
        None if scale is None else Constant("router_scale", scale),
        apply,
    )


def experts(
    bias: bool = False,
    clamp: Clamp | None = None,
    activation: Activation = Activation.SILU,
    n_experts: Size = N_EXPERTS,
) -> Experts:
    return Experts(
        n_experts,
        D_MODEL,
        EXPERT_D_FF,
        activation,
        clamp,
        "gate_proj",
        "up_proj",
        "down_proj",
        bias,
        INIT,
        INIT,
        ZEROS,
    )


def shared(gate: bool = False) -> SharedExpert:
    body = glu(SHARED_D_FF)
    return SharedExpert(
        "shared", body, linear("shared_gate", width(D_MODEL), width(1), False) if gate else None
    )


def glu(d_ff: Size = D_FF, clamp: Clamp | None = None) -> Glu:
    up, down = (width(D_MODEL), width(d_ff)), (width(d_ff), width(D_MODEL))
    return Glu(
        D_MODEL,
        d_ff,
        Activation.SILU,
        clamp,
        linear("gate_proj", *up, False),
        linear("up_proj", *up, False),
        linear("down_proj", *down, False),
        None,
        None,
    )


def mixture(
    router_part: Router | None = None,
    experts_part: Experts | None = None,
    shared_part: SharedExpert | None = None,
    dropout: float = 0.0,
) -> MixtureOfExperts:
    p = Constant("dropout", dropout)
    return MixtureOfExperts(
        D_MODEL,
        router_part or router(),
        experts_part or experts(),
        shared_part,
        Dropout("output_dropout", DropoutSite.FF_OUT, p) if dropout else None,
    )


def narrow_embedding() -> Embedding:
    return Embedding("embedding", VOCAB, NARROW, INIT)


def projection(at: ProjectAt, bias: bool = False) -> Projection:
    return Projection(linear("embedding_proj", width(NARROW), width(D_MODEL), bias), at)
