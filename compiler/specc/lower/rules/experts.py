"""Rules on mixtures of experts: what may be chosen, and which settings take each other's place."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics import SpecPath
from specc.lower.rules.places import Place, Problem
from specc.spec import schema

_SCORES_NEED_A_CHOICE = "its weight is 1 whatever the router says, so the router learns nothing"


def rule_clamp(place: Place) -> Iterator[Problem]:
    """A clamp is a gate of its own."""
    node = place.layer.feed_forward
    if isinstance(node, schema.Glu | schema.Experts) and node.clamp and node.activation != "silu":
        yield Problem(
            _path("clamp"),
            f"the clamp's gate is gate * sigmoid(alpha * gate), a silu, not {node.activation}",
            "write `activation: silu`, or leave the clamp out",
        )


def rule_experts(place: Place) -> Iterator[Problem]:
    """Enough experts to choose from; weights that can be learned; nothing said without effect."""
    node = place.layer.feed_forward
    if not isinstance(node, schema.Experts) or "feed_forward" not in place.layer.block.sublayers:
        return
    yield from _numbers(node)
    yield from _weights(node)
    if node.bias.up != node.bias.down:
        yield Problem(_path("bias"), "all three maps of an expert have a bias, or none has")
    if place.spec.dropout.ff_hidden > 0.0:
        yield Problem(
            _path("kind"),
            "experts drop nothing between their maps, and dropout.ff_hidden is "
            f"{place.spec.dropout.ff_hidden:g}",
            "write `dropout: {..., ff_hidden: 0}`",
        )


def _path(*steps: str) -> SpecPath:
    return ("feed_forward", *steps)


def _numbers(node: schema.Experts) -> Iterator[Problem]:
    if node.top_k > node.n_experts:
        yield Problem(_path("top_k"), f"{node.top_k} of {node.n_experts} experts cannot be chosen")
    groups = node.groups
    if groups is None:
        return
    if node.n_experts % groups.n_groups:
        yield Problem(
            _path("groups", "n_groups"),
            f"{node.n_experts} experts do not divide into {groups.n_groups} groups",
        )
        return
    each = node.n_experts // groups.n_groups
    if groups.n_kept >= groups.n_groups:
        yield Problem(
            _path("groups", "n_kept"),
            f"{groups.n_kept} kept of {groups.n_groups} groups leave none out",
            "keep fewer, or leave `groups` out",
        )
    elif node.top_k > each * groups.n_kept:
        yield Problem(
            _path("top_k"),
            f"{node.top_k} experts cannot be chosen from the {groups.n_kept * each} of kept groups",
        )
    if groups.score == "top2_sum" and each < 2:
        yield Problem(
            _path("groups", "score"), "top2_sum adds the two best experts of a group, which has one"
        )
    if groups.fill == "zero" and node.selection_bias:
        yield Problem(
            _path("groups", "fill"),
            "a selection bias may push an expert below 0, which is what lost groups count as",
            "write `fill: minus_infinity`",
        )
    if groups.fill == "zero" and node.score == "topk_softmax":
        yield Problem(
            _path("groups", "fill"),
            "topk_softmax compares logits, where a 0 may beat an expert of a kept group",
            "write `fill: minus_infinity`",
        )


def _weights(node: schema.Experts) -> Iterator[Problem]:
    if node.score == "topk_softmax" and node.renormalise:
        yield Problem(
            _path("renormalise"), "the weights of topk_softmax add up to 1 already", "leave it out"
        )
    elif node.top_k == 1 and (node.renormalise or node.score == "topk_softmax"):
        field = "renormalise" if node.renormalise else "score"
        yield Problem(_path(field), f"one expert, normalised alone: {_SCORES_NEED_A_CHOICE}")
    if node.renorm_eps is not None and not node.renormalise:
        yield Problem(
            _path("renorm_eps"),
            "renorm_eps is added to the sum that `renormalise: true` divides by",
        )
