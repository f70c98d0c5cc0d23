"""Published numbers for scores, masks, heads and the cache."""

from __future__ import annotations

import math

import pytest
import torch

from specc.golden import masks
from specc.golden.frequencies import Turns, rotary_frequencies
from specc.golden.functions import masked_softmax
from specc.golden.positions import rotate
from specc.golden.products import head_scores, kv_head, scale_factor, split_heads
from specc.ir.attention import InverseSqrt, Unscaled
from specc.ir.positions import RotaryLayout
from specc.ir.sizes import Size
from tests.golden import models
from tests.golden.vectors import is_close, tensor, vector


def weights_of(q, k, scale, allowed=None):
    scores = head_scores(q, k, scale)
    free = torch.ones(scores.shape, dtype=torch.bool) if allowed is None else allowed
    return masked_softmax(scores, free)


def test_v01_scores_are_scaled_by_the_root_of_the_head_width():
    v = vector("V01")
    width = v.given["head_dim"]
    q, k = (split_heads(tensor(v.given[name])[None], width)[0] for name in "qk")
    scale = scale_factor(InverseSqrt(Size("head_dim", width, "E")))
    assert scale == v.expected["scale"]
    assert is_close(head_scores(q, k, 1.0), v.expected["dots"])
    assert is_close(weights_of(q, k, scale), v.expected["weights"], 1e-9)
    wrong = {
        "sqrt_d_model": 1 / math.sqrt(v.given["d_model"]),
        "divide_by_inverse_scale": 1 / scale,
        "scaled_twice": scale * scale,
        "unscaled": scale_factor(Unscaled()),
    }
    assert wrong.keys() == v.wrong.keys()
    for name, factor in wrong.items():
        assert is_close(weights_of(q, k, factor), v.wrong[name], 1e-9)
        assert not is_close(weights_of(q, k, scale), v.wrong[name], 1e-3)


def test_v03_true_means_may_look():
    v = vector("V03")
    scores = tensor(v.given["scores"])
    found = masked_softmax(scores, masks.causal(3, 3))
    assert is_close(found, v.expected["weights"])
    upper = torch.ones(3, 3, dtype=torch.bool).triu(1)
    assert is_close(masked_softmax(scores, upper), v.wrong["upper_triangle"])
    assert is_close(
        masked_softmax(scores, torch.ones(3, 3, dtype=torch.bool).triu()),
        v.wrong["upper_triangle_with_diagonal"],
    )
    assert not any(is_close(found, wrong, 1e-2) for wrong in v.wrong.values())


def test_v04_queries_are_the_last_columns():
    v = vector("V04")
    for name, mask in v.expected["masks"].items():
        n_queries, n_keys = (int(n) for n in name.split("x"))
        found = masks.causal(n_queries, n_keys)
        assert found.tolist() == tensor(mask, torch.bool).tolist()
        assert found.tolist() != tensor(v.wrong["top_left"][name], torch.bool).tolist()


def test_v04_empty_rows_are_zero():
    weights = masked_softmax(torch.randn(5, 2, dtype=torch.float64), masks.causal(5, 2))
    assert weights[:3].eq(0).all()
    assert is_close(weights.sum(-1), [0, 0, 0, 1, 1])


def test_v05_a_fully_masked_row_is_zero_and_has_a_finite_gradient():
    v = vector("V05")
    scores = torch.zeros(1, 3, dtype=torch.float64, requires_grad=True)
    allowed = tensor([v.given["mask_row"]], torch.bool)
    row = (masked_softmax(scores, allowed) @ tensor(v.given["values"]))[0]
    assert is_close(row, v.expected["row"])
    assert not is_close(row, v.wrong["lowest_number_filled"], 1e-3)
    row.sum().backward()
    assert scores.grad is not None
    assert scores.grad.eq(0).all()


def test_v22_neighbouring_query_heads_share_a_key_head():
    v = vector("V22")
    for name, heads in v.expected.items():
        n_heads, n_kv_heads = (int(n) for n in name.split("/"))
        found = [kv_head(h, n_heads, n_kv_heads) for h in range(n_heads)]
        assert found == heads
        assert found != v.wrong.get(name)


def v39_heads():
    v = vector("V39")
    x = tensor(v.given["x"])
    q, k, values = (x @ tensor(v.given[name]) for name in ("Wq", "Wk", "Wv"))
    return v, q, k, values


def turned(x, places):
    made = Turns(rotary_frequencies(4, 10000.0))
    return rotate(x, torch.tensor(places), made, RotaryLayout.HALF)


def test_v39_one_more_step_equals_the_full_forward():
    v, q, k, values = v39_heads()
    keys = turned(k, [0, 1, 2, 3])
    full = weights_of(turned(q, [0, 1, 2, 3]), keys, 0.5, masks.causal(4, 4)) @ values
    assert is_close(full, v.expected["full"])
    last = weights_of(turned(q[3:], [3]), keys, 0.5, masks.causal(1, 4)) @ values
    assert is_close(last[0], v.expected["last"])


@pytest.mark.parametrize(
    ("name", "query_at", "keys_at", "mask"),
    [
        ("query_restarted_at_0", [0], [0, 1, 2, 3], [True, True, True, True]),
        ("top_left_causal", [3], [0, 1, 2, 3], [True, False, False, False]),
        ("key_stored_without_turn", [3], [0, 1, 2, 0], [True, True, True, True]),
    ],
)
def test_v39_wrong_steps_differ(name, query_at, keys_at, mask):
    v, q, k, values = v39_heads()
    weights = weights_of(turned(q[3:], query_at), turned(k, keys_at), 0.5, torch.tensor([mask]))
    found = (weights @ values)[0]
    assert is_close(found, v.wrong[name])
    assert not is_close(found, v.expected["last"], 1e-2)


def test_v42_rows_are_heads_times_their_own_width():
    v = vector("V42")
    d_model = models.sized(models.D_MODEL, 2560)
    q_rows = models.width(models.sized(models.N_HEADS, 32), models.sized(models.HEAD_DIM, 128))
    q = models.linear("q_proj", models.width(d_model), q_rows)
    assert [q.outputs.value, q.inputs.value] == v.expected["qwen3-4b q_proj"]
    assert [q.outputs.value, q.inputs.value] != v.wrong["qwen3-4b derived q_proj"]
    assert [q.inputs.value, q.outputs.value] == v.expected["qwen3-4b o_proj"]
