"""Changes to stress weights that bring values to where a spec's limits and fills decide: features
to their clamp, scores below zero where lost groups count as minus infinity.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from specc.ir.feed_forward import (
    Clamp,
    FeedForward,
    Glu,
    GroupFill,
    MixtureOfExperts,
    Mlp,
    Router,
    Score,
)
from specc.ir.model import Model
from specc.verify.places import sublayers

REACH = 0.5  # the standard deviation of clamped features, in units of their limit
BELOW = 0.6  # how far scores between 0 and 1 sink


def reach_limits(model: Model, weights: dict[str, Tensor]) -> None:
    """Change the weights of those parts in place of the dictionary's."""
    for stack in model.stacks:
        for path, sublayer in sublayers(model, stack.name):
            if isinstance(sublayer.body, Mlp | Glu | MixtureOfExperts):
                for name, factor in _factors(sublayer.body, f"{path}."):
                    weights[name] = weights[name] * factor
                for name in _sinking(sublayer.body, f"{path}."):
                    weights[name] = weights[name] - BELOW


def _factors(part: FeedForward, prefix: str) -> Iterator[tuple[str, float]]:
    match part:
        case Glu(clamp=Clamp(limit=limit)):
            for linear in (part.gate, part.up):
                yield f"{prefix}{linear.name}.weight", REACH * limit.value
        case MixtureOfExperts(experts=experts, shared=shared):
            if experts.clamp is not None:
                for name in (experts.gate, experts.up):
                    yield prefix + name, REACH * experts.clamp.limit.value
            if shared is not None:
                yield from _factors(shared.body, f"{prefix}{shared.name}.")
        case _:
            pass


def _sinking(part: FeedForward, prefix: str) -> Iterator[str]:
    """Selection biases of routers whose lost groups lie below everything."""
    if isinstance(part, MixtureOfExperts) and _sinks(part.router):
        yield f"{prefix}{part.router.selection_bias}"


def _sinks(router: Router) -> bool:
    groups = router.groups
    is_bounded = router.score is not Score.TOPK_SOFTMAX and router.selection_bias is not None
    return is_bounded and groups is not None and groups.fill is GroupFill.MINUS_INFINITY
