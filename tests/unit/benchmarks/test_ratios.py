"""The statistics of the benchmarks, on samples whose answers are known."""

import random
from dataclasses import replace

import pytest

from tests.benchmarks import floors
from tests.benchmarks.cells import COMPILED, DECODE, EAGER, PREFILL, START, TRAINING, Cell, Key
from tests.benchmarks.compare import changes
from tests.benchmarks.ratios import geometric_mean, ratio
from tests.benchmarks.report import falls_short, judged
from tests.benchmarks.shapes import GPT2, SIZES


def noisy(seconds, seed, n=31, spread=0.05):
    draws = random.Random(seed)
    return [seconds * draws.uniform(1 - spread, 1 + spread) for _ in range(n)]


def cell(task, size=SIZES[0], mode=EAGER, length=64, **times):
    samples = {name.replace("_", " "): noisy(s, i) for i, (name, s) in enumerate(times.items())}
    return Cell(Key(GPT2, size, task, length, mode), samples)


def unmet(*cells):
    return [verdict.name for verdict in judged(cells) if not verdict.is_met]


def test_a_ratio_is_of_medians_and_blind_to_one_slow_sample():
    assert ratio([2.0, 2.0, 90.0], [1.0, 1.0, 1.0]).value == 2.0


def test_the_interval_holds_the_truth_and_narrows_with_samples():
    few, many = (ratio(noisy(1.3, 1, n), noisy(1.0, 2, n), paired=False) for n in (9, 200))
    assert few.low < 1.3 < few.high
    assert many.low < 1.3 < many.high
    assert many.high - many.low < (few.high - few.low) / 2


def test_the_interval_covers_as_often_as_it_says():
    covered = 0
    for i in range(100):
        found = ratio(noisy(1.0, i), noisy(1.0, 1000 + i), paired=False)
        covered += found.low <= 1.0 <= found.high
    assert 88 <= covered <= 100


def test_pairs_share_the_noise_of_their_round():
    load = [1.0, 3.0, 1.0, 2.0, 5.0, 1.5, 4.0, 2.5, 1.2]
    theirs = [1.1 * each for each in load]
    paired, apart = ratio(theirs, load), ratio(theirs, load, paired=False)
    assert paired.low == pytest.approx(1.1)
    assert paired.high == pytest.approx(1.1)
    assert apart.low < 1.0 < apart.high


def test_a_seed_makes_the_interval_repeat():
    assert ratio(noisy(2, 1), noisy(1, 2)) == ratio(noisy(2, 1), noisy(1, 2))


@pytest.mark.parametrize(("theirs", "ours"), [([], [1.0]), ([1.0], []), ([1.0, 2.0], [1.0])])
def test_no_ratio_of_what_is_no_pair(theirs, ours):
    with pytest.raises(ValueError, match="samples"):
        ratio(theirs, ours)


def test_a_geometric_mean_weighs_halves_and_doubles_alike():
    assert geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="no mean"):
        geometric_mean([])


def test_a_cell_that_is_slower_beyond_noise_fails():
    assert unmet(cell(TRAINING, specc=1.0, litgpt=1.2)) == []
    (name,) = unmet(cell(TRAINING, specc=1.0, litgpt=0.8))
    assert name.startswith("training step, eager, against litgpt")


def test_a_mean_over_sizes_below_one_fails_within_noise_too():
    litgpt = [0.9, 0.9, 0.9, 0.95, 0.99, 1.05, 1.1, 1.1, 1.1]
    samples = {"specc": [1.0] * 9, "litgpt": litgpt}
    cells = [Cell(Key(GPT2, size, PREFILL, 64, COMPILED), samples) for size in SIZES[:2]]
    assert not ratio(litgpt, samples["specc"]).is_slower
    assert len(unmet(*cells)) == 1
    assert unmet(*cells, cell(PREFILL, SIZES[2], COMPILED, specc=1.0, litgpt=1.1)) == []


@pytest.mark.parametrize(("theirs", "fails"), [(1.6, 0), (1.4, 1)])
def test_small_decode_has_a_budget_of_its_own(theirs, fails):
    assert len(unmet(cell(DECODE, specc=1.0, transformers=theirs))) == fails
    assert unmet(cell(DECODE, SIZES[1], specc=1.0, transformers=1.1)) == []


@pytest.mark.parametrize(("theirs", "fails"), [(2.7, 0), (2.3, 1)])
def test_start_up_has_a_budget(theirs, fails):
    assert len(unmet(cell(START, specc=1.0, transformers=theirs))) == fails


@pytest.mark.parametrize(
    ("task", "floor", "most"), [(PREFILL, floors.PRODUCTS, 1.10), (DECODE, floors.READING, 1.15)]
)
def test_the_largest_size_keeps_near_its_faster_floor(task, floor, most):
    def over(seconds, size=SIZES[2]):
        samples = {"specc": noisy(seconds, 1), f"{floor}": noisy(1.0, 2), "slow": noisy(5.0, 3)}
        return unmet(Cell(Key(GPT2, size, task, 64, EAGER), samples))

    assert over(most - 0.05) == []
    assert len(over(most + 0.05)) == 1
    assert over(most + 0.05, SIZES[1]) == []


@pytest.mark.parametrize(
    "given",
    [
        cell(TRAINING, specc=1.0, litgpt=0.8),
        cell(DECODE, specc=1.0, transformers=1.4),
        Cell(Key(GPT2, SIZES[2], PREFILL, 64, EAGER), {"specc": [1.2], floors.PRODUCTS: [1.0]}),
    ],
)
def test_a_cell_that_misses_its_own_budget_falls_short(given):
    assert falls_short(given)
    assert unmet(given)
    faster = [seconds / 2 for seconds in given.samples["specc"]]
    assert not falls_short(replace(given, samples={**given.samples, "specc": faster}))


def test_two_runs_are_compared_beside_what_else_ran():
    before = cell(PREFILL, specc=1.0, litgpt=1.0)
    slow_day = cell(PREFILL, specc=3.0, litgpt=3.0)
    faster = cell(PREFILL, specc=0.8, litgpt=1.0)
    (same,), (gain,) = changes([before], [slow_day]), changes([before], [faster])
    assert not same.is_real
    assert gain.is_real
    assert gain.beside_others.value == pytest.approx(1.25, abs=0.05)


def test_a_cell_is_stored_whole():
    given = Cell(
        Key(GPT2, "1M", DECODE, 32, COMPILED), {"specc": [1.0]}, {"x": "why"}, {"specc": 2}
    )
    assert Cell.of(given.json()) == given
