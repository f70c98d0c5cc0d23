"""A mixture of experts: its router, the experts' stacked tensors, the shared expert's place."""

from __future__ import annotations

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
from specc.ir.layers import Activation, Dropout, Linear
from specc.ir.sizes import Constant, Size, width
from specc.lower import init
from specc.lower.context import Context
from specc.spec import schema

_PATH = ("feed_forward",)


def mixture(
    context: Context,
    node: schema.Experts,
    depth: Size,
    shared: Glu | None,
    clamp: Clamp | None,
    out: Dropout | None,
) -> MixtureOfExperts:
    """The whole part; `depth` is the stack's number of layers, `shared` the shared one's body."""
    n_experts = context.size("n_experts", node.n_experts, "X", (*_PATH, "n_experts"))
    return MixtureOfExperts(
        d_model=context.d_model,
        router=_router(context, node, n_experts),
        experts=_experts(context, node, n_experts, depth, clamp),
        shared=None if shared is None else _shared(context, node, shared),
        output_dropout=out,
    )


def _router(context: Context, node: schema.Experts, n_experts: Size) -> Router:
    linear = Linear(
        "router",
        width(context.d_model),
        width(n_experts),
        node.router_bias,
        init.matrix(context),
        init.bias(context),
    )
    return Router(
        linear=linear,
        n_experts=n_experts,
        top_k=context.size("top_k", node.top_k, "A", (*_PATH, "top_k")),
        score=Score(node.score),
        selection_bias="selection_bias" if node.selection_bias else None,
        groups=None if node.groups is None else _groups(context, node.groups),
        renormalise=node.renormalise,
        renorm_eps=_constant(context, "router_renorm_eps", node.renorm_eps, "renorm_eps"),
        scale=_constant(context, "router_scale", node.scale, "scale"),
        apply=Apply(node.apply),
    )


def _constant(context: Context, name: str, value: float | None, field: str) -> Constant | None:
    return None if value is None else context.constant(name, value, (*_PATH, field))


def _groups(context: Context, node: schema.ExpertGroups) -> Groups:
    path = (*_PATH, "groups")
    return Groups(
        n_groups=context.size("n_groups", node.n_groups, "G", (*path, "n_groups")),
        n_kept=context.size("n_kept_groups", node.n_kept, "n_kept_groups", (*path, "n_kept")),
        score=GroupScore(node.score),
        fill=GroupFill(node.fill),
    )


def _experts(
    context: Context, node: schema.Experts, n_experts: Size, depth: Size, clamp: Clamp | None
) -> Experts:
    return Experts(
        n_experts=n_experts,
        d_model=context.d_model,
        d_ff=context.size("d_ff", node.d_ff, "F", (*_PATH, "d_ff")),
        activation=Activation(node.activation),
        clamp=clamp,
        gate="gate_proj",
        up="up_proj",
        down="down_proj",
        bias=node.bias.up,
        init=init.matrix(context),
        down_init=init.output_matrix(context, depth),
        bias_init=init.bias(context),
    )


def _shared(context: Context, node: schema.Experts, body: Glu) -> SharedExpert:
    gate = None
    if node.shared is not None and node.shared.gate == "sigmoid":
        gate = Linear(
            "shared_gate",
            width(context.d_model),
            width(1),
            False,
            init.matrix(context),
            init.bias(context),
        )
    return SharedExpert("shared", body, gate)
