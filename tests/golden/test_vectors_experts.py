"""Published numbers, and numbers worked out by hand, for routes, groups and clamped gates."""

from __future__ import annotations

import math

import pytest
import torch

from specc.golden.functions import gated
from specc.golden.routing import best, in_kept_groups, route
from specc.ir.feed_forward import GroupFill, GroupScore, Score
from specc.ir.layers import Activation
from tests.golden import models as m
from tests.golden import models_experts as mx
from tests.golden.vectors import is_close, tensor, vector


def chosen(part, logits, bias=None):
    found = route(part, tensor(logits), None if bias is None else tensor(bias))
    return found.experts.tolist(), found.weights


def test_v35_routes():
    v = vector("V35")
    logits, k = v.given["logits"], v.given["k"]
    for part, name in (
        (mx.router(top_k=k), "softmax"),
        (mx.router(top_k=k, renormalise=True), "renormalised"),
        (mx.router(Score.TOPK_SOFTMAX, top_k=k), "renormalised"),
    ):
        experts, weights = chosen(part, logits)
        assert experts == v.expected["experts"]
        assert is_close(weights, v.expected[name])
        others = [v.expected[n] for n in ("softmax", "renormalised") if n != name]
        assert not any(is_close(weights, o, 1e-2) for o in [*others, v.wrong["raw_logits"]])


def test_v35_the_selection_bias_stays_out_of_the_weight():
    v = vector("V35")
    part = mx.router(Score.SIGMOID, top_k=2, selection_bias=True, renormalise=True, scale=2.5)
    experts, weights = chosen(part, v.given["logits"], v.given["bias"])
    expected = v.expected["sigmoid"]
    assert sorted(experts) == expected["experts"]
    order = [experts.index(e) for e in expected["experts"]]
    assert is_close(weights[order], expected["weights"])
    assert not is_close(weights[order], v.wrong["bias_in_the_weight"], 1e-3)


def test_renormalisation_adds_its_eps_to_the_sum():
    part = mx.router(top_k=2, renormalise=True, renorm_eps=0.5, n_experts=m.sized(mx.N_EXPERTS, 2))
    _, weights = chosen(part, [0.0, math.log(3)])
    assert is_close(weights, [0.75 / 1.5, 0.25 / 1.5])


def test_equal_scores_go_to_the_lowest_index():
    scores = tensor([[1.0, 3.0, 3.0, 2.0, 3.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
    assert best(scores, 2).tolist() == [[1, 2], [0, 1]]


GROUP_SCORES = [0.9, 0.1, 0.5, 0.6, 0.7, 0.2, -0.3, -0.1]


@pytest.mark.parametrize(
    ("score", "fill", "expected"),
    [
        # best of each pair: .9 .6 .7 -.1; sums of pairs: 1.0 1.1 .9 -.4
        (GroupScore.MAX, GroupFill.ZERO, [0.9, 0.1, 0, 0, 0.7, 0.2, 0, 0]),
        (GroupScore.TOP2_SUM, GroupFill.ZERO, [0.9, 0.1, 0.5, 0.6, 0, 0, 0, 0]),
        (
            GroupScore.TOP2_SUM,
            GroupFill.MINUS_INFINITY,
            [0.9, 0.1, 0.5, 0.6, *[-math.inf] * 4],
        ),
    ],
)
def test_groups_by_hand(score, fill, expected):
    assert in_kept_groups(mx.groups(4, 2, score, fill), tensor(GROUP_SCORES)).tolist() == expected


def test_the_two_best_of_larger_groups_count():
    """Sums of all: 1.9 and 2.0; sums of the two best: 1.8 and 1.1."""
    scores = tensor([0.9, 0.9, 0.1, 0.0, 0.6, 0.5, 0.5, 0.4])
    found = in_kept_groups(mx.groups(2, 1, GroupScore.TOP2_SUM, GroupFill.ZERO), scores)
    assert found.tolist() == [0.9, 0.9, 0.1, 0.0, 0, 0, 0, 0]


def test_groups_are_judged_with_the_bias_and_weighted_without():
    part = mx.router(
        Score.SIGMOID, top_k=2, selection_bias=True, groups=mx.groups(2, 1, GroupScore.MAX)
    )
    logits = [2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0]
    assert chosen(part, logits)[0] == [0, 1]
    experts, weights = chosen(part, logits, [0.0] * 7 + [1.0])
    assert experts == [7, 4]
    assert is_close(weights, [1 / (1 + math.e), 0.5])


def test_a_zero_may_win_over_a_negative_score():
    groups = mx.groups(4, 1, GroupScore.MAX, GroupFill.ZERO)
    part = mx.router(Score.TOPK_SOFTMAX, top_k=2, groups=groups)
    assert chosen(part, [-1.0, -2.0, *[-5.0] * 6])[0] == [2, 3]


@pytest.mark.parametrize(
    "part",
    [
        mx.router(top_k=9),
        mx.router(top_k=3, groups=mx.groups(4, 1)),
        mx.router(top_k=3, groups=mx.groups(3, 2)),
    ],
)
def test_routers_that_cannot_choose(part):
    with pytest.raises(ValueError, match="experts"):
        route(part, torch.zeros(8), None)


def test_a_clamped_gate_by_hand():
    part = mx.clamp(alpha=1.702, limit=7.0, up_offset=1.0)
    gate, up = tensor([9.0, -9.0, 1.0]), tensor([2.0, 9.0, -9.0])
    by_hand = [
        (2 + 1) * 7 / (1 + math.exp(-1.702 * 7)),
        (7 + 1) * -9 / (1 + math.exp(1.702 * 9)),
        (-7 + 1) * 1 / (1 + math.exp(-1.702)),
    ]
    assert is_close(gated(Activation.SILU, part, gate, up), by_hand, 1e-12)
    assert not is_close(gated(Activation.SILU, None, gate, up), by_hand, 1e-2)
