"""Feed-forwards: dense, gated, and mixtures of experts, expert by expert."""

from __future__ import annotations

import torch
from torch import Tensor

from specc.golden.functions import activation, gated, sigmoid
from specc.golden.routing import route
from specc.golden.scope import Scope
from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import (
    Apply,
    Experts,
    FeedForward,
    Glu,
    MixtureOfExperts,
    Mlp,
    SharedExpert,
)


def feed_forward(part: FeedForward, scope: Scope, x: Tensor) -> Tensor:
    """[B, T, D] -> [B, T, D], each token alone; `scope` is the feed-forward's own."""
    match part:
        case Mlp():
            hidden = activation(part.activation, scope.linear(part.up, x))
        case Glu():
            gate, up = scope.linear(part.gate, x), scope.linear(part.up, x)
            hidden = gated(part.activation, part.clamp, gate, up)
        case MixtureOfExperts():
            return _mixture(part, scope, x)
        case _:
            assert_never(part)
    hidden = scope.drop(part.hidden_dropout, hidden)
    return scope.drop(part.output_dropout, scope.linear(part.down, hidden))


def _mixture(part: MixtureOfExperts, scope: Scope, x: Tensor) -> Tensor:
    """Each token's chosen experts, weighted and added, and the expert that all tokens share."""
    router = part.router
    bias = None if router.selection_bias is None else scope.weight(router.selection_bias)
    choice = route(router, scope.linear(router.linear, x), bias)
    scope.note_inner("experts", choice.experts)
    scope.note_inner("expert_weights", choice.weights)
    total = torch.zeros_like(x)
    for e in range(part.experts.n_experts.value):
        chosen = choice.experts == e
        here = chosen.any(-1)
        weight = (choice.weights * chosen).sum(-1)[here][:, None].to(x.dtype)
        match router.apply:
            case Apply.OUTPUT:
                made = weight * _expert(part.experts, scope, e, x[here])
            case Apply.INPUT:
                made = _expert(part.experts, scope, e, weight * x[here])
            case _:
                assert_never(router.apply)
        total = total.index_put((here,), made, accumulate=True)
    if part.shared is not None:
        total = total + _shared(part.shared, scope, x)
    return scope.drop(part.output_dropout, total)


def _expert(part: Experts, scope: Scope, e: int, x: Tensor) -> Tensor:
    """[N, D] -> [N, D]: the gated feed-forward of expert e."""
    hidden = gated(
        part.activation,
        part.clamp,
        _slice_of(part, part.gate, scope, e, x),
        _slice_of(part, part.up, scope, e, x),
    )
    return _slice_of(part, part.down, scope, e, hidden)


def _slice_of(part: Experts, name: str, scope: Scope, e: int, x: Tensor) -> Tensor:
    """x W^T + b with expert e's slice of a tensor of all experts."""
    y = x @ scope.weight(name)[e].T
    return y + scope.weight(f"{name}_bias")[e] if part.bias else y


def _shared(part: SharedExpert, scope: Scope, x: Tensor) -> Tensor:
    y = scope.note(part.name, feed_forward(part.body, scope.inside(part.name), x))
    return y if part.gate is None else y * sigmoid(scope.linear(part.gate, x))
