"""Mixtures of experts and clamps: what they lower to, and what is refused."""

from __future__ import annotations

import pytest

from specc.ir.feed_forward import (
    Apply,
    Clamp,
    Glu,
    GroupFill,
    GroupScore,
    MixtureOfExperts,
    Mlp,
    Score,
)
from specc.ir.parameters import parameter_count, parameters
from specc.ir.walk import config_fields, walk
from tests.unit.lower.build import decoder, lowered, refused, two_types

EXPERTS = {"kind": "experts", "n_experts": 12, "top_k": 4, "d_ff": 5, "activation": "silu"}
GROUPS = {"n_groups": 4, "n_kept": 2}


def mixture(**changes) -> MixtureOfExperts:
    model = lowered(**decoder(feed_forward={**EXPERTS, **changes}))
    return next(part for part in walk(model.stacks) if isinstance(part, MixtureOfExperts))


def test_defaults():
    found = mixture()
    router, experts = found.router, found.experts
    assert (router.n_experts.value, router.top_k.value, experts.d_ff.value) == (12, 4, 5)
    assert (router.n_experts.letter, router.top_k.letter, experts.d_ff.letter) == ("X", "A", "F")
    assert (router.score, router.apply) == (Score.SOFTMAX, Apply.OUTPUT)
    assert not router.linear.bias
    assert not experts.bias
    assert not router.renormalise
    assert [router.selection_bias, router.groups, router.scale, found.shared] == [None] * 4


def test_everything_at_once():
    found = mixture(
        bias={"up": True, "down": True},
        router_bias=True,
        score="sigmoid",
        selection_bias=True,
        renormalise=True,
        renorm_eps=1e-20,
        scale=2.5,
        apply="input",
        groups={**GROUPS, "score": "top2_sum", "fill": "minus_infinity"},
        shared={"d_ff": 7, "gate": "sigmoid"},
        clamp={},
    )
    router, groups = found.router, found.router.groups
    assert found.experts.bias
    assert router.linear.bias
    assert router.selection_bias == "selection_bias"
    assert (router.score, router.apply) == (Score.SIGMOID, Apply.INPUT)
    assert (router.renorm_eps.value, router.scale.value) == (1e-20, 2.5)
    assert (groups.n_groups.value, groups.n_kept.value) == (4, 2)
    assert (groups.score, groups.fill) == (GroupScore.TOP2_SUM, GroupFill.MINUS_INFINITY)
    assert found.shared.gate.outputs.value == 1
    assert found.shared.body.d_ff.value == 7
    assert found.shared.body.gate.bias
    assert found.experts.clamp == found.shared.body.clamp
    assert found.experts.clamp.limit.value == 7.0


def test_parameters_count_and_buffers_do_not():
    plain = lowered(**decoder(feed_forward=EXPERTS))
    biased = lowered(**decoder(feed_forward={**EXPERTS, "selection_bias": True}))
    shapes = {p.path.removeprefix("layers.0.feed_forward."): p.shape for p in parameters(biased)}
    assert shapes["router.weight"] == (12, 8)
    assert shapes["gate_proj"] == shapes["up_proj"] == (12, 5, 8)
    assert shapes["down_proj"] == (12, 8, 5)
    assert shapes["selection_bias"] == (12,)
    assert parameter_count(plain) == parameter_count(biased)


def names(**changes) -> dict[str, float]:
    return {f.name: f.value for f in config_fields(lowered(**changes)) if "d_ff" in f.name}


def test_the_shared_width_has_its_own_name_where_it_differs():
    assert names(**decoder(feed_forward={**EXPERTS, "shared": {"d_ff": 7}})) == {
        "d_ff": 5,
        "d_ff_shared": 7,
    }
    assert names(**decoder(feed_forward={**EXPERTS, "shared": {"d_ff": 5}})) == {"d_ff": 5}


def test_dense_and_expert_layers_side_by_side():
    dense = {"kind": "glu", "activation": "silu", "d_ff": 9}
    found = names(
        **two_types({"feed_forward": dense}, {"feed_forward": {**EXPERTS, "shared": {"d_ff": 7}}})
    )
    assert sorted(found.values()) == [5, 7, 9]


def test_a_clamped_glu():
    node = {"kind": "glu", "activation": "silu", "d_ff": 5, "clamp": {"limit": 3.0}}
    model = lowered(**decoder(feed_forward=node))
    glu = next(part for part in walk(model.stacks) if isinstance(part, Glu))
    assert isinstance(glu.clamp, Clamp)
    assert (glu.clamp.alpha.value, glu.clamp.limit.value, glu.clamp.up_offset.value) == (
        1.702,
        3,
        1,
    )
    assert not [part for part in walk(model.stacks) if isinstance(part, Mlp)]


REFUSED = {
    "more_than_there_are": ({"top_k": 13}, "top_k", "13 of 12 experts cannot be chosen"),
    "groups_do_not_divide": (
        {"groups": {"n_groups": 5, "n_kept": 2}},
        "groups.n_groups",
        "12 experts do not divide into 5 groups",
    ),
    "all_groups_kept": (
        {"groups": {"n_groups": 4, "n_kept": 4}},
        "groups.n_kept",
        "4 kept of 4 groups leave none out",
    ),
    "kept_groups_too_small": (
        {"groups": {"n_groups": 4, "n_kept": 1}},
        "top_k",
        "4 experts cannot be chosen from the 3 of kept groups",
    ),
    "two_best_of_one": (
        {"top_k": 2, "groups": {"n_groups": 12, "n_kept": 3, "score": "top2_sum"}},
        "groups.score",
        "a group, which has one",
    ),
    "zero_among_logits": (
        {"score": "topk_softmax", "groups": GROUPS},
        "groups.fill",
        "a 0 may beat an expert",
    ),
    "zero_among_biased_scores": (
        {"selection_bias": True, "groups": GROUPS},
        "groups.fill",
        "push an expert below 0",
    ),
    "renormalised_twice": (
        {"score": "topk_softmax", "renormalise": True},
        "renormalise",
        "add up to 1 already",
    ),
    "one_renormalised": ({"top_k": 1, "renormalise": True}, "renormalise", "learns nothing"),
    "one_softened": ({"top_k": 1, "score": "topk_softmax"}, "score", "learns nothing"),
    "eps_of_nothing": ({"renorm_eps": 1e-20}, "renorm_eps", "divides by"),
    "half_a_bias": ({"bias": {"up": True}}, "bias", "all three maps of an expert"),
    "clamp_of_gelu": ({"activation": "gelu_erf", "clamp": {}}, "clamp", "not gelu_erf"),
}


@pytest.mark.parametrize(("changes", "path", "words"), REFUSED.values(), ids=REFUSED)
def test_refusal(changes, path, words):
    (found,) = refused(**decoder(feed_forward={**EXPERTS, **changes}))
    assert ".".join(map(str, found.path)) == f"feed_forward.{path}"
    assert words in found.message


def test_hidden_dropout_is_refused():
    (found,) = refused(**decoder(feed_forward=EXPERTS), dropout={"ff_hidden": 0.1})
    assert "experts drop nothing" in found.message
