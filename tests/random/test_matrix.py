"""The covering array covers, and the support matrix in the docs is what the compiler says."""

from itertools import combinations, product
from pathlib import Path

import pytest

from specc.verify.random_specs.features import FEATURES
from specc.verify.random_specs.matrix import SIZES, document, refusal, sort_pairs, spec_of
from specc.verify.random_specs.pairs import all_pairs, covering_rows, pairs_of

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "support_matrix.md"


def is_possible(row):
    return not (row[0] == 1 and row[2] == 2) and sum(row) != 6


@pytest.fixture(scope="module")
def pairs():
    return sort_pairs()


@pytest.mark.parametrize("sizes", [(2, 2), (3, 4, 3), (5, 2, 3, 2, 4)])
def test_rows_cover_all_pairs(sizes):
    def start(pair):
        row = [0] * len(sizes)
        for feature, value in pair:
            row[feature] = value
        return tuple(row)

    starts = {pair: start(pair) for pair in all_pairs(sizes)}
    rows = covering_rows(sizes, starts, lambda row: True)
    assert set().union(*map(pairs_of, rows)) == set(starts)
    assert len(rows) <= 2 * max(a * b for a, b in combinations(sizes, 2))


def test_rows_hold_nothing_impossible():
    sizes = (2, 3, 3)
    everything = filter(is_possible, product(*map(range, sizes)))
    starts = {pair: row for row in everything for pair in pairs_of(row)}
    rows = covering_rows(sizes, starts, is_possible)
    assert all(map(is_possible, rows))
    assert set(starts) <= set().union(*map(pairs_of, rows))


def test_every_value_goes_with_something(pairs):
    told = {value for pair in pairs.possible for value in pair}
    assert told == {(i, j) for i, size in enumerate(SIZES) for j in range(size)}


def test_no_refusal_is_about_the_table_itself(pairs):
    """A missing or unknown key would be the table's fault, not the pair's."""
    told = [message for messages in pairs.refused.values() for message in messages]
    assert not [m for m in told if "unknown" in m or "missing" in m]


def test_plain_rows_are_possible():
    assert refusal((0,) * len(FEATURES)) == ()
    assert spec_of((0,) * len(FEATURES)).startswith("specc: 1\n")


def test_the_document_is_what_the_compiler_says(pairs):
    rows = covering_rows(SIZES, pairs.possible, lambda row: not refusal(row))
    assert DOCUMENT.read_text(encoding="utf-8") == document(pairs, len(rows))
