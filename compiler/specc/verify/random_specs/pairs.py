"""A covering array: few rows in which every pair of values that can stand together does.

Rows are tuples of value indices, one a feature. Greedy and without chance: the same table gives the
same rows. Which pairs and rows are possible is asked, not known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

Value = tuple[int, int]  # (feature, value of it)
ValuePair = tuple[Value, Value]  # the earlier feature first
Row = tuple[int, ...]


def all_pairs(sizes: Sequence[int]) -> Iterator[ValuePair]:
    """Every pair of values of two features."""
    for i, j in combinations(range(len(sizes)), 2):
        for a in range(sizes[i]):
            for b in range(sizes[j]):
                yield (i, a), (j, b)


def pairs_of(row: Row) -> set[ValuePair]:
    """The pairs that a row shows."""
    return set(combinations(enumerate(row), 2))


def covering_rows(
    sizes: Sequence[int], starts: dict[ValuePair, Row], is_possible: Callable[[Row], bool]
) -> list[Row]:
    """Rows that show every pair of `starts`, each of which names a possible row that shows it."""
    left = dict.fromkeys(sorted(starts))
    rows: list[Row] = []
    while left:
        pair = next(iter(left))
        row = _enriched(starts[pair], pair, sizes, left, is_possible)
        rows.append(row)
        for shown in pairs_of(row):
            left.pop(shown, None)
    return rows


def _enriched(
    start: Row,
    pair: ValuePair,
    sizes: Sequence[int],
    left: dict[ValuePair, None],
    is_possible: Callable[[Row], bool],
) -> Row:
    """The start with other values that show more new pairs, feature by feature."""
    row = start
    fixed = {feature for feature, _ in pair}
    for feature, size in enumerate(sizes):
        if feature in fixed:
            continue
        options = [(*row[:feature], value, *row[feature + 1 :]) for value in range(size)]
        options.sort(key=lambda option: -_new(option, feature, left))
        before = _new(row, feature, left)
        for option in options:
            if _new(option, feature, left) <= before:
                break
            if is_possible(option):
                row = option
                break
    return row


def _new(row: Row, feature: int, left: dict[ValuePair, None]) -> int:
    """How many pairs the row's value of that feature would show first."""
    own = (feature, row[feature])
    others = ((i, value) for i, value in enumerate(row) if i != feature)
    return sum(((own, o) if own < o else (o, own)) in left for o in others)
