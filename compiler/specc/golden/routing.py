"""Which experts see a token, and with what weight: selection by sorting, so that it has one
answer.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from specc.golden.functions import masked_softmax, sigmoid
from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import GroupFill, Groups, GroupScore, Router, Score


@dataclass(frozen=True)
class Choice:
    """[..., top_k] experts of each token, best first, and their weights."""

    experts: Tensor
    weights: Tensor


def route(part: Router, logits: Tensor, bias: Tensor | None) -> Choice:
    """The choice for logits [..., X]; the bias [X] is added for the selection only."""
    _check(part)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
    scores = expert_scores(part.score, logits)
    selection = scores if bias is None else scores + bias.to(scores.dtype)
    if part.groups is not None:
        selection = in_kept_groups(part.groups, selection)
    experts = best(selection, part.top_k.value)
    weights = torch.gather(scores, -1, experts)
    if part.score is Score.TOPK_SOFTMAX:
        weights = softmax(weights)
    if part.renormalise:
        eps = 0.0 if part.renorm_eps is None else part.renorm_eps.value
        weights = weights / (weights.sum(-1, keepdim=True) + eps)
    if part.scale is not None:
        weights = weights * part.scale.value
    return Choice(experts, weights)


def expert_scores(kind: Score, logits: Tensor) -> Tensor:
    """[..., X]: what experts are compared by, and what the chosen ones' weights come from."""
    match kind:
        case Score.SOFTMAX:
            return softmax(logits)
        case Score.TOPK_SOFTMAX:
            return logits
        case Score.SIGMOID:
            return sigmoid(logits)
        case _:
            assert_never(kind)


def softmax(x: Tensor) -> Tensor:
    """exp(x) / sum of exp(x) over the last axis."""
    return masked_softmax(x, torch.ones_like(x, dtype=torch.bool))


def best(scores: Tensor, n: int) -> Tensor:
    """[..., n] indices of the highest scores, highest first; of equal ones, the lowest index."""
    return torch.sort(scores, dim=-1, descending=True, stable=True).indices[..., :n]


def in_kept_groups(part: Groups, selection: Tensor) -> Tensor:
    """The selection scores [..., X], those outside the best groups replaced."""
    n_groups = part.n_groups.value
    grouped = torch.stack(selection.chunk(n_groups, -1), -2)
    ranked = torch.sort(grouped, dim=-1, descending=True).values
    match part.score:
        case GroupScore.MAX:
            worth = ranked[..., 0]
        case GroupScore.TOP2_SUM:
            worth = ranked[..., :2].sum(-1)
        case _:
            assert_never(part.score)
    kept = torch.zeros_like(worth, dtype=torch.bool)
    kept = kept.scatter(-1, best(worth, part.n_kept.value), True)
    match part.fill:
        case GroupFill.ZERO:
            fill = 0.0
        case GroupFill.MINUS_INFINITY:
            fill = -math.inf
        case _:
            assert_never(part.fill)
    return torch.where(kept[..., None], grouped, torch.full_like(grouped, fill)).flatten(-2)


def _check(part: Router) -> None:
    """ValueError where fewer experts can be chosen than the router wants."""
    available = part.n_experts.value
    if part.groups is not None:
        if available % part.groups.n_groups.value:
            raise ValueError(f"{available} experts, but {part.groups.n_groups.value} groups")
        available = available // part.groups.n_groups.value * part.groups.n_kept.value
    if not 0 < part.top_k.value <= available:
        raise ValueError(f"{part.top_k.value} experts of {available} cannot be chosen")
