"""Mistakes with mixtures of experts and clamps: choosing, weighing, grouping, adding up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

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
from specc.ir.init import ZEROS, FanInUniform, Fill, XavierUniform
from specc.ir.layers import Activation
from specc.ir.model import Model
from specc.ir.sizes import Constant
from specc.ir.walk import walk
from specc.verify.mutants.leaves import OTHER_STD
from specc.verify.mutants.mutant import (
    Mutant,
    choices,
    dropped,
    each,
    flipped,
    scaled,
    set_to,
)


def activations(kind: type[Glu | Experts]) -> tuple[Mutant, ...]:
    """Every activation in turn, where no clamp takes its place."""

    def to(activation: Activation) -> Mutant:
        def change(part: Glu | Experts) -> Glu | Experts:
            return part if part.clamp is not None else replace(part, activation=activation)

        return each(f"activation = {activation.value}", kind, change)

    return tuple(to(activation) for activation in Activation)


def _exchanged(part: Experts) -> Experts:
    """The activation on up."""
    return replace(part, gate=part.up, up=part.gate)


def _other_biases(part: Experts) -> Experts:
    if not part.bias:
        return part
    is_zero = isinstance(part.bias_init, Fill)
    return replace(part, bias_init=FanInUniform() if is_zero else ZEROS)


def _plain_down(part: Experts) -> Experts:
    """The second maps start as the others do, or at zero where they did so already."""
    return replace(part, down_init=ZEROS if part.down_init == part.init else part.init)


def _offset(part: Clamp) -> Clamp:
    offset = part.up_offset
    return replace(part, up_offset=Constant(offset.name, offset.value + 1))


def _routers(model: Model) -> Iterator[Router]:
    return (part for part in walk(model.stacks) if isinstance(part, Router))


def _one_softmax(model: Model) -> str | None:
    """Why softmax over all and over the chosen may be the same."""
    for router in _routers(model):
        plain = router.groups is None and router.selection_bias is None
        if not (plain and router.renormalise and router.score is not Score.SIGMOID):
            return None
    return "renormalised, the softmax over all experts is the softmax over the chosen ones"


def _sums_to_one(model: Model) -> str | None:
    if all(router.score is Score.TOPK_SOFTMAX for router in _routers(model)):
        return "a softmax over the chosen experts adds up to 1 already"
    return None


def _keeps_the_best(model: Model) -> str | None:
    """Why groups may leave the choice as it is."""
    for router in _routers(model):
        groups = router.groups
        if groups is None:
            continue
        if groups.score is not GroupScore.MAX or groups.n_kept.value < router.top_k.value:
            return None
    return "the groups of the best top_k experts are kept, and so are those experts"


def _nothing_below_zero(model: Model) -> str | None:
    """Why zero may do for minus infinity, and the other way round."""
    for router in _routers(model):
        groups = router.groups
        can_sink = router.selection_bias is not None or router.score is Score.TOPK_SOFTMAX
        if groups is not None and groups.fill is GroupFill.MINUS_INFINITY and can_sink:
            return None
    return "all scores lie above 0"


def _always_above_zero(_model: Model) -> str | None:
    return "where lost groups count as zero, all scores lie above it"


EXPERTS: dict[str, tuple[Mutant, ...]] = {
    "Clamp": (
        scaled(Clamp, "alpha", 2),
        scaled(Clamp, "limit", 2),
        each("up_offset + 1", Clamp, _offset),
        replace(dropped(Glu, "clamp"), name="Clamp: left out of a glu"),
        replace(dropped(Experts, "clamp"), name="Clamp: left out of experts"),
    ),
    "Router": (
        replace(choices(Router, "score", Score)[0], harmless=_one_softmax),
        replace(choices(Router, "score", Score)[1], harmless=_one_softmax),
        choices(Router, "score", Score)[2],
        dropped(Router, "selection_bias"),
        dropped(Router, "groups", _keeps_the_best),
        flipped(Router, "renormalise", _sums_to_one),
        dropped(Router, "renorm_eps"),
        dropped(Router, "scale"),
        scaled(Router, "scale", 2),
        *choices(Router, "apply", Apply),
    ),
    "Groups": (
        *(replace(m, harmless=_keeps_the_best) for m in choices(Groups, "score", GroupScore)),
        set_to(Groups, "fill", GroupFill.ZERO, _nothing_below_zero),
        set_to(Groups, "fill", GroupFill.MINUS_INFINITY, _always_above_zero),
    ),
    "Experts": (
        *activations(Experts),
        each("gate and up exchanged", Experts, _exchanged),
        flipped(Experts, "bias"),
        set_to(Experts, "init", XavierUniform()),
        set_to(Experts, "init", FanInUniform()),
        set_to(Experts, "init", OTHER_STD),
        each("the second maps start otherwise", Experts, _plain_down),
        each("biases start otherwise", Experts, _other_biases),
    ),
    "SharedExpert": (dropped(SharedExpert, "gate"),),
    "MixtureOfExperts": (
        dropped(MixtureOfExperts, "shared"),
        dropped(MixtureOfExperts, "output_dropout"),
    ),
}
