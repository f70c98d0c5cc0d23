"""Published numbers for places, tables, turns and slopes."""

from __future__ import annotations

import math

import pytest
import torch

from specc.golden.frequencies import Turns, rotary_frequencies, turns
from specc.golden.positions import (
    alibi_slopes,
    positions,
    rotate,
    sinusoids,
)
from specc.ir.positions import (
    LinearScaling,
    Llama3Scaling,
    PositionIndex,
    RotaryLayout,
    SinusoidFrequency,
    SinusoidLayout,
)
from specc.ir.sizes import Constant, Size
from tests.golden import models
from tests.golden.vectors import is_close, tensor, vector

HALF, INTERLEAVED = RotaryLayout.HALF, RotaryLayout.INTERLEAVED


def rotated(x, position, frequencies, layout):
    return rotate(tensor(x)[None], torch.tensor([position]), Turns(frequencies), layout)[0]


def test_v07_padding_does_not_count():
    v = vector("V07")
    real = tensor(v.given["mask"], torch.bool)
    found = positions(PositionIndex.MASK, 3, 5, real)
    assert found[real].tolist() == tensor(v.expected["positions"])[real].tolist()
    assert int(found.min()) == 0
    columns = positions(PositionIndex.ARANGE, 3, 5, real)
    assert columns.tolist() == v.wrong["arange"]
    assert found[real].tolist() != columns[real].tolist()
    assert positions(PositionIndex.MASK, 3, 5, None).tolist() == v.wrong["arange"]


@pytest.mark.parametrize(("layout", "other"), [(HALF, INTERLEAVED), (INTERLEAVED, HALF)])
def test_v10_pairs_turn_together(layout, other):
    v = vector("V10")
    frequencies = rotary_frequencies(8, v.given["theta"])
    found = rotated(v.given["x"], v.given["position"], frequencies, layout)
    assert is_close(found, v.expected[layout.value])
    assert not is_close(found, v.expected[other.value], 1e-2)


def test_v11_permuted_rows_turn_one_layout_into_the_other():
    v = vector("V11")
    head_dim, perm = v.given["head_dim"], v.expected["perm"]
    frequencies = rotary_frequencies(head_dim, 10000.0)
    assert [perm.index(i) for i in range(len(perm))] == v.expected["inverse"]
    x = torch.randn(len(perm), dtype=torch.float64, generator=torch.Generator().manual_seed(1))

    def turned(values, layout):
        heads = [values[i : i + head_dim].tolist() for i in (0, head_dim)]
        return torch.cat([rotated(head, 5, frequencies, layout) for head in heads])

    assert torch.allclose(turned(x[perm], HALF), turned(x, INTERLEAVED)[perm], atol=1e-14)
    assert not torch.allclose(turned(x, HALF), turned(x, INTERLEAVED), atol=1e-2)


def test_v12_angles_are_formed_in_float64():
    v = vector("V12")
    frequencies = rotary_frequencies(v.given["head_dim"], v.given["theta"])
    x = torch.zeros(1, v.given["head_dim"], dtype=torch.float64)
    x[:, :64] = 1
    places = torch.tensor([v.given["position"]])
    assert is_close(rotate(x, places, Turns(frequencies), HALF)[0, :4], v.expected["cos"], 1e-9)
    rounded = [float(torch.tensor(f, dtype=torch.bfloat16)) for f in frequencies]
    wrong = rotate(x, places, Turns(rounded), HALF)[0, :4]
    assert is_close(wrong, v.wrong["cos_of_bfloat16_frequencies"], 1e-9)
    assert not is_close(wrong, v.expected["cos"], 1e-1)
    in_bfloat16 = rotate(x.to(torch.bfloat16), places, Turns(frequencies), HALF)[0, :4]
    assert is_close(in_bfloat16, v.expected["cos"], 4e-3)


def scaled(width, theta, scaling):
    size = models.sized(models.HEAD_DIM, width)
    return turns(models.rotary(theta=theta, scaling=scaling, head_dim=size)).frequencies


def llama3(factor, low, high, original):
    return Llama3Scaling(
        Constant("rope_factor", factor),
        Constant("rope_low_freq_factor", low),
        Constant("rope_high_freq_factor", high),
        Size("rope_original_max_seq_len", original, "O"),
    )


def test_v13_long_waves_are_slowed():
    v, given = vector("V13"), vector("V13").given
    scaling = llama3(given["factor"], given["low"], given["high"], given["orig"])
    found = scaled(given["head_dim"], given["theta"], scaling)
    assert is_close(found, v.expected["frequencies"], 0)
    assert not is_close(found, v.wrong["unscaled"], 1e-5)
    assert is_close(rotary_frequencies(given["head_dim"], given["theta"]), v.wrong["unscaled"], 0)
    larger = scaled(128, 500000.0, llama3(8.0, 1.0, 4.0, 8192))
    assert is_close([larger[i] for i in (0, 28, 30, 34, 36, 63)], v.expected["llama_3_1_8b"], 0)


def test_linear_scaling_slows_every_wave():
    slowed = scaled(8, 10000.0, LinearScaling(Constant("rope_factor", 4.0)))
    assert is_close(slowed, [f / 4 for f in rotary_frequencies(8, 10000.0)], 0)


def test_v16_only_the_first_features_turn():
    v = vector("V16")
    frequencies = rotary_frequencies(v.given["rotary_dim"], 10000.0)
    assert is_close(frequencies, v.expected["frequencies"])
    x, place = v.given["x"], v.given["position"]
    found = rotated(x, place, frequencies, HALF)
    assert is_close(found, v.expected["half"])
    assert is_close(rotated(x, place, frequencies, INTERLEAVED), v.expected["interleaved"])
    over_head = rotary_frequencies(v.given["head_dim"], 10000.0)
    assert is_close(rotated(x, place, over_head[:2], HALF), v.wrong["exponent_over_head_dim"])
    assert is_close(rotated(x, place, over_head, HALF), v.wrong["whole_head"])
    assert not any(is_close(found, wrong, 1e-2) for wrong in v.wrong.values())


def test_v17_learned_rows_start_at_the_offset():
    v = vector("V17")
    real = tensor(v.given["mask"], torch.bool)
    rows = positions(PositionIndex.MASK, 2, 5, real) + 2
    read = torch.tensor(v.expected["rows_read"])
    assert rows[real].tolist() == read[real].tolist()
    assert rows[real].tolist() != positions(PositionIndex.ARANGE, 2, 5, real)[real].tolist()
    assert v.expected["table_rows_for_2048"] == 2048 + 2


@pytest.mark.parametrize(
    ("name", "width", "layout", "frequency"),
    [
        ("interleaved", 6, "interleaved", "2k/d"),
        ("concat", 6, "concat", "2k/d"),
        ("concat_half_minus_one", 6, "concat", "k/(half-1)"),
        ("interleaved_odd", 5, "interleaved", "2k/d"),
        ("concat_odd", 5, "concat", "2k/d"),
    ],
)
def test_v18_tables(name, width, layout, frequency):
    v = vector("V18")
    found = sinusoids(
        torch.arange(v.given["n"]), width, SinusoidLayout(layout), SinusoidFrequency(frequency)
    )
    assert is_close(found, v.expected[name])
    others = [table for key, table in v.expected.items() if key != name]
    assert not any(is_close(found, table, 1e-3) for table in others)
    assert not is_close(found, v.wrong["cosine_with_its_own_exponent"], 1e-3)


@pytest.mark.parametrize("width", [2, 5])
def test_half_minus_one_has_no_meaning_for_odd_or_tiny_widths(width):
    frequency = SinusoidFrequency.K_OVER_HALF_MINUS_ONE
    with pytest.raises(ValueError, match="even width"):
        sinusoids(torch.arange(3), width, SinusoidLayout.CONCAT, frequency)


@pytest.mark.parametrize("n_heads", [8, 6, 12, 20])
def test_v19_slopes(n_heads):
    assert is_close(alibi_slopes(n_heads), vector("V19").expected[str(n_heads)])


def test_v19_wrong_slopes_differ():
    v = vector("V19")
    assert not is_close(alibi_slopes(8), v.wrong["8_from_one"], 1e-2)
    assert not is_close(alibi_slopes(12), v.wrong["12_uniform"], 1e-2)


@pytest.mark.parametrize("n_heads", range(1, 65))
def test_the_uniform_series_is_right_for_powers_of_two_only(n_heads):
    uniform = [2.0 ** (-8 * h / n_heads) for h in range(1, n_heads + 1)]
    is_power = n_heads == 2 ** int(math.log2(n_heads))
    assert len(alibi_slopes(n_heads)) == n_heads
    assert len(set(alibi_slopes(n_heads))) == n_heads
    assert is_close(alibi_slopes(n_heads), uniform, 1e-12) == is_power
