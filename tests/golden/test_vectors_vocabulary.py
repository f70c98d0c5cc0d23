"""Published numbers, and numbers worked out by hand, for reach, caps, sinks, scalings, ids."""

from __future__ import annotations

import math

import pytest
import torch

from specc.golden import masks
from specc.golden.frequencies import Turns, turns, yarn_ramp
from specc.golden.functions import capped, masked_softmax
from specc.golden.norms import norm, rms_scaled
from specc.golden.positions import id_positions, positions, rotate, turn
from specc.golden.products import head_scores, scale_factor, temperature
from specc.ir.attention import InverseSqrtSum
from specc.ir.layers import NormWeight
from specc.ir.positions import PositionIndex, RotaryLayout, RotarySlice
from specc.ir.sizes import Constant, Size, width
from specc.lower.scalings import longrope_attention, yarn_attention
from specc.spec.schema import LongRopeScaling, YarnScaling
from tests.golden import models as m
from tests.golden import models_attention as ma
from tests.golden.vectors import is_close, tensor, vector

HALF, INTERLEAVED = RotaryLayout.HALF, RotaryLayout.INTERLEAVED


def test_v08_a_causal_window_counts_the_query_itself():
    v = vector("V08")
    n, size = v.given["n"], v.given["window"]
    found = masks.over_self(True, n, None, ma.window(size))[0]
    assert found.int().tolist() == v.expected["mask"]
    assert found.sum(-1).tolist() == v.expected["keys_per_row"] != v.wrong["keys_per_row"]
    assert found[-1].int().tolist() == v.expected["last_of_six"]
    assert found.int().tolist() != v.wrong["one_key_more"]
    wider = masks.over_self(True, n, None, ma.window(size + 1))[0]
    assert wider.int().tolist() == v.wrong["one_key_more"]


def test_v08_a_window_both_ways_counts_each_side():
    v = vector("V08")
    found = masks.over_self(False, 6, None, ma.window(1))[0].int().tolist()
    assert found == v.expected["both_ways_1"] != v.expected["mask"]


def test_chunks_are_counted_after_the_padding():
    real = tensor([[0, 0, 1, 1, 1, 1, 1]], torch.bool)
    found = masks.over_self(True, 7, real, ma.chunk(2))[0].int()
    by_hand = [  # tokens 0 1 | 2 3 | 4 stand in columns 2 3 | 4 5 | 6
        [1, 0, 0, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, 0, 0],
        [0, 0, 1, 0, 0, 0, 0],
        [0, 0, 1, 1, 0, 0, 0],
        [0, 0, 0, 0, 1, 0, 0],
        [0, 0, 0, 0, 1, 1, 0],
        [0, 0, 0, 0, 0, 0, 1],
    ]
    assert found.tolist() == by_hand
    odd = tensor([[0, 1, 1, 1, 1]], torch.bool)
    by_hand = [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 1, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 1, 1]]
    assert masks.over_self(True, 5, odd, ma.chunk(2))[0].int().tolist() == by_hand
    in_columns = masks.over_self(True, 5, None, ma.chunk(2))[0].int().tolist()
    assert in_columns[2:4] == [[0, 0, 1, 0, 0], [0, 0, 1, 1, 0]]
    both_ways = masks.over_self(False, 3, None, ma.chunk(2))[0].int().tolist()
    assert both_ways == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]


def test_v33_a_cap_bends_and_never_cuts():
    v = vector("V33")
    x = tensor(v.given["x"])
    assert is_close(capped(x, 50.0), v.expected["cap_50"])
    assert is_close(capped(x, 30.0), v.expected["cap_30"])
    assert is_close(x * torch.tanh(x / 30), v.wrong["x_times_tanh"])
    assert not is_close(capped(x, 30.0), v.wrong["x_times_tanh"], 1e-2)
    hundred = tensor(100.0)
    assert is_close(capped(0.5 * hundred, 30.0), v.expected["scaled_then_capped"])
    assert is_close(0.5 * capped(hundred, 30.0), v.wrong["capped_then_scaled"])


def test_v33_the_cap_comes_before_the_mask():
    v = vector("V33")
    scores = head_scores(tensor([[1.0]]), tensor([[0.5], [9.0]]), 1.0, 1.0)
    found = masked_softmax(scores, tensor([[1, 0]], torch.bool))[0]
    assert is_close(found, v.expected["capped_then_masked"])
    wrong = torch.softmax(capped(tensor([0.5, -math.inf]), 1.0), -1)
    assert is_close(wrong, v.wrong["masked_then_capped"])
    assert not is_close(found, v.wrong["masked_then_capped"], 1e-2)


def test_the_cap_sees_scaled_products_and_no_bias():
    q, k, bias = tensor([[2.0]]), tensor([[3.0], [-1.0]]), tensor([[0.0, -100.0]])
    found = head_scores(q, k, 0.5, 2.0, bias)
    by_hand = [[2 * math.tanh(1.5), 2 * math.tanh(-0.5) - 100]]
    assert is_close(found, by_hand)


def test_v34_a_sink_has_weight_and_no_value():
    v = vector("V34")
    scores, free = tensor(v.given["scores"]), torch.ones(3, dtype=torch.bool)
    sink = tensor(v.given["sink"])
    found = masked_softmax(scores, free, sink)
    assert is_close(found, v.expected["weights"])
    assert is_close(found.sum(), v.expected["row_sum"])
    assert is_close(found @ tensor(v.given["values"]), v.expected["output"])
    assert masked_softmax(scores, ~free, sink).tolist() == v.expected["masked_row"]
    assert is_close(masked_softmax(scores, free), v.wrong["sink_ignored"])
    assert is_close(masked_softmax(scores, free, sink / 8), v.wrong["sink_scaled"])
    assert not any(is_close(found, v.wrong[name], 1e-2) for name in ("sink_ignored", "sink_scaled"))


def test_a_large_sink_takes_all_and_overflows_nothing():
    scores, free = tensor([1.0, 2.0]), torch.ones(2, dtype=torch.bool)
    sink = tensor(1e4).requires_grad_()
    found = masked_softmax(scores, free, sink)
    assert found.tolist() == [0.0, 0.0]
    assert torch.autograd.grad(found.sum(), sink)[0] == 0
    assert is_close(masked_softmax(scores + 1e4, free, tensor(0.0)).sum(), 1.0)


def test_temperature_grows_in_steps():
    part = ma.temperature(floor=4.0, coefficient=0.1)
    ln2, ln3 = 0.0693147180559945, 0.1098612288668110
    by_hand = [1.0, 1.0, 1.0, 1 + ln2, 1 + ln2, 1 + ln2, 1 + ln2, 1 + ln3]
    assert is_close(temperature(part, torch.arange(8)), by_hand, 1e-14)


def test_widths_are_added_under_the_root():
    widths = (Size("nope_head_dim", 9, "N"), Size("rope_head_dim", 7, "R"))
    assert scale_factor(InverseSqrtSum(widths, None)) == 0.25
    assert scale_factor(InverseSqrtSum(widths, Constant("multiplier", 3.0))) == 0.75


def test_root_mean_square_by_hand():
    assert is_close(rms_scaled(tensor([3.0, 4.0]), 0.0), [3 / 12.5**0.5, 4 / 12.5**0.5])
    part = m.rms_norm(features=width(2), eps=3.5, weight=NormWeight.NONE)
    assert is_close(norm(part, tensor([3.0, 4.0])), [0.75, 1.0])


def scaled(scaling, extent=0, head_dim=8, rotary_dim=None, theta=10000.0):
    size = m.sized(m.HEAD_DIM, head_dim)
    turned = None if rotary_dim is None else Size("rotary_dim", rotary_dim, "R")
    part = m.rotary(theta=theta, scaling=scaling, head_dim=size, rotary_dim=turned)
    return turns(part, extent)


def test_linear_scaling_by_hand():
    assert is_close(scaled(ma.linear_scaling(4.0), head_dim=4).frequencies, [0.25, 0.0025])


def test_dynamic_scaling_by_hand():
    """theta' = 10000 * (2 * 16/8 - 1)^(4/2) = 90000."""
    part = ma.dynamic(2.0, 8)
    for extent in (1, 7, 8):
        assert scaled(part, extent, 4).frequencies == scaled(None, 8, 4).frequencies
    assert is_close(scaled(part, 16, 4).frequencies, [1.0, 1 / 300])
    assert not is_close(scaled(part, 15, 4).frequencies, [1.0, 1 / 300], 1e-5)
    turned_part = scaled(part, 16, head_dim=8, rotary_dim=4)
    assert is_close(turned_part.frequencies, [1.0, 1 / 300])
    with pytest.raises(ValueError, match="two pairs or more"):
        scaled(part, 16, 2)


def v14(**more):
    given = vector("V14").given
    betas = {name: float(given[name]) for name in ("beta_fast", "beta_slow")}
    part = ma.yarn(float(given["factor"]), given["orig"], **(betas | more))
    return part, m.rotary(
        theta=float(given["theta"]),
        scaling=part,
        head_dim=m.sized(m.HEAD_DIM, given["head_dim"]),
    )


def test_v14_a_ramp_between_kept_and_slowed_waves():
    v = vector("V14")
    part, rotary = v14(gain=1.5)
    assert list(yarn_ramp(part, rotary)) == v.expected["ramp"]
    found = turns(rotary)
    assert is_close(found.frequencies, v.expected["frequencies"])
    assert found.gain == 1.5


def test_v14_attention_factors():
    """Lowering works them out; the gain is all that golden sees of them."""
    v = vector("V14")

    def factor(value, **more):
        return yarn_attention(
            YarnScaling(kind="yarn", factor=value, original_max_seq_len=64, **more)
        )

    expected = v.expected["attention_factor"]
    assert is_close(factor(16.0), expected["factor_16"])
    assert is_close(factor(40.0, mscale=1.0), expected["factor_40_mscale_1"])
    assert is_close(factor(128.0), expected["factor_128"])
    assert factor(1.0) == expected["factor_1"] == 1.0
    assert factor(16.0, mscale=1.0, mscale_all_dim=1.0) == 1.0
    assert factor(64.0, attention_factor=1.0) == 1.0
    by_hand = (0.1 * 0.5 * math.log(40) + 1) / (0.1 * 2 * math.log(40) + 1)
    assert is_close(factor(40.0, mscale=0.5, mscale_all_dim=2.0), by_hand)
    assert not is_close(factor(128.0), v.wrong["factor_128_squared"], 1e-2)
    assert not is_close(factor(64.0), v.wrong["log_twice_factor_64"], 1e-2)


def test_longrope_attention_factor_by_hand():
    """sqrt(1 + ln(2^6/2^3) / ln 2^3) = sqrt(2)."""
    node = LongRopeScaling(
        kind="longrope", short_factors=(1.0,), long_factors=(2.0,), original_max_seq_len=8
    )
    assert is_close(longrope_attention(node, 64), 2**0.5)
    assert longrope_attention(node, 8) == 1.0


def test_yarn_ends_that_are_not_rounded():
    """dim(n) = 32 ln(2048 / (2 pi n)) / (2 ln 10000), in decimal arithmetic."""
    part, rotary = v14(truncate=False)
    assert is_close(list(yarn_ramp(part, rotary)), [4.03200042250308849, 10.0526003357827124])
    found = turns(rotary).frequencies
    plain = scaled(None, head_dim=32).frequencies
    assert is_close(found[7], 0.0112079519579656933)
    assert found[:5] == plain[:5]
    assert is_close(found[11:], [f / 4 for f in plain[11:]])
    assert not is_close(found, vector("V14").expected["frequencies"], 1e-5)


def test_yarn_ends_stay_inside_the_head():
    """A short original text: both ends lie before pair 0, so the ramp is a step after it."""
    part = ma.yarn(4.0, 6)
    found = scaled(part, head_dim=8).frequencies
    assert is_close(found, [1.0, 0.1 / 4, 0.01 / 4, 0.001 / 4])
    everything_fits = scaled(ma.yarn(4.0, 10**9), head_dim=8, theta=10.0).frequencies
    assert everything_fits == scaled(None, head_dim=8, theta=10.0).frequencies


def test_longrope_by_hand():
    part = ma.longrope((1.0, 2.0), (2.0, 4.0), 8, gain=1.25)
    for extent, by_hand in ((8, [1.0, 0.05]), (9, [0.5, 0.025])):
        found = scaled(part, extent, head_dim=4, theta=100.0)
        assert is_close(found.frequencies, by_hand)
        assert found.gain == 1.25
    with pytest.raises(ValueError, match="rope_short_factors has 1 factors for 2 pairs"):
        scaled(ma.longrope((1.0,), (2.0,), 8), 8, head_dim=4)


def test_proportional_scaling_by_hand():
    """The exponent runs over the whole head, and pairs lie half a head apart."""
    assert is_close(scaled(ma.proportional(), rotary_dim=4).frequencies, [1.0, 0.1, 0.0, 0.0])
    part = m.rotary(
        scaling=ma.proportional(),
        head_dim=m.sized(m.HEAD_DIM, 8),
        rotary_dim=Size("rotary_dim", 4, "R"),
    )
    x = torch.arange(1.0, 9.0, dtype=torch.float64)
    found = turn(part, x[None, None, None], torch.tensor([[3]]), 0)[0, 0, 0]
    c, s = math.cos(3), math.sin(3)
    d, t = math.cos(0.3), math.sin(0.3)
    by_hand = [c - 5 * s, 2 * d - 6 * t, 3, 4, 5 * c + s, 6 * d + 2 * t, 7, 8]
    assert is_close(found, by_hand)


def test_the_gain_multiplies_cosines_and_sines():
    x, places = tensor([[1.0, 2.0]]), torch.tensor([1])
    c, s = math.cos(0.5), math.sin(0.5)
    found = rotate(x, places, Turns([0.5], 3.0), HALF)[0]
    assert is_close(found, [3 * (c - 2 * s), 3 * (2 * c + s)])


@pytest.mark.parametrize("layout", [HALF, INTERLEAVED])
def test_v16_the_last_features_turn(layout):
    v = vector("V16")
    part = m.rotary(
        layout,
        head_dim=m.sized(m.HEAD_DIM, v.given["head_dim"]),
        rotary_dim=Size("rotary_dim", v.given["rotary_dim"], "R"),
    )
    last = m.replace(part, slice=RotarySlice.LAST)
    x, places = tensor(v.given["x"])[None, None, None], torch.tensor([[v.given["position"]]])
    assert is_close(turn(part, x, places, 0)[0, 0, 0], v.expected[layout.value])
    swapped = torch.cat([x[..., 4:], x[..., :4]], -1)
    found = turn(last, swapped, places, 0)[0, 0, 0]
    assert is_close(found[4:], v.expected[layout.value][:4])
    assert is_close(found[:4], v.expected[layout.value][4:])


def test_v17_ids_are_counted_without_the_padding_id():
    v = vector("V17")
    rows = id_positions(torch.tensor(v.given["ids"]), v.given["pad_id"]) + 2
    assert rows.tolist() == v.expected["id_rows"]
    assert rows.tolist() not in (v.wrong["arange_after_the_pad"], v.wrong["arange"])
    assert v.expected["id_table_rows_for_512"] == 512 + 2
    with pytest.raises(ValueError, match="learned positions only"):
        positions(PositionIndex.IDS, 2, 6, None)
