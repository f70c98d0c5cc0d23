"""The support matrix: what goes with what, from specs that were run.

A pair of values is refused when it is refused in every kind of model, all else plain. Every other
pair stands in one of a few specs, each of which is compiled and compared with golden.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from itertools import combinations
from pathlib import Path

from specc.diagnostics import SpecError
from specc.pipeline import read_model
from specc.verify.random_specs.features import FEATURES, KIND, base
from specc.verify.random_specs.pairs import Row, ValuePair, all_pairs, covering_rows
from specc.verify.random_specs.trial import Verdict, try_spec
from specc.verify.random_specs.yaml_text import Tree, dump

SIZES = tuple(len(feature.values) for feature in FEATURES)
_WORDS = tuple(tuple(feature.values) for feature in FEATURES)
_PIECES = tuple(tuple(feature.values.values()) for feature in FEATURES)
_KIND = FEATURES.index(KIND)


def spec_of(row: Row) -> str:
    """The YAML text of a row."""
    tree = base()
    for pieces, value in zip(_PIECES, row, strict=True):
        _merge(tree, pieces[value])
    return dump({key: value for key, value in tree.items() if value is not None})


def _merge(tree: Tree, piece: Tree) -> None:
    for key, value in piece.items():
        if isinstance(value, dict) and isinstance(tree.get(key), dict):
            _merge(tree[key], value)
        else:
            tree[key] = deepcopy(value)


@cache
def refusal(row: Row) -> tuple[str, ...]:
    """The messages that a row's spec is refused with; none when it compiles."""
    try:
        read_model(text=spec_of(row))
    except SpecError as error:
        return tuple(diagnostic.message for diagnostic in error.diagnostics)
    return ()


@dataclass
class Pairs:
    """Which pairs can stand together: a row for each that does, the messages against the others."""

    possible: dict[ValuePair, Row] = field(default_factory=dict)
    refused: dict[ValuePair, tuple[str, ...]] = field(default_factory=dict)


def sort_pairs() -> Pairs:
    """Ask about every pair, in one kind after the other."""
    pairs = Pairs()
    for pair in all_pairs(SIZES):
        against = []
        for row in _plain_rows(pair):
            messages = refusal(row)
            if not messages:
                pairs.possible[pair] = row
                break
            against.append(messages)
        else:
            pairs.refused[pair] = min(against, key=len)
    return pairs


def _plain_rows(pair: ValuePair) -> Iterator[Row]:
    plain = [0] * len(SIZES)
    for feature, value in pair:
        plain[feature] = value
    if any(feature == _KIND for feature, _ in pair):
        yield tuple(plain)
        return
    for kind in range(SIZES[_KIND]):
        yield (*plain[:_KIND], kind, *plain[_KIND + 1 :])


def write_matrix(path: Path) -> tuple[str, list[str]]:
    """Run the covering specs and write the file: a summary, and what failed."""
    pairs = sort_pairs()
    rows = covering_rows(SIZES, pairs.possible, lambda row: not refusal(row))
    failures = []
    for row in rows:
        text = spec_of(row)
        outcome = try_spec(text)
        if outcome.verdict is not Verdict.AGREES:
            failures.append(f"--- {outcome.verdict.value}: {outcome.evidence}\n{text}")
    if not failures:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(document(pairs, len(rows)), encoding="utf-8", newline="\n")
    n_pairs = len(pairs.possible) + len(pairs.refused)
    summary = (
        f"{n_pairs} pairs of {sum(SIZES)} values of {len(SIZES)} features:"
        f" {len(pairs.possible)} supported, all shown by {len(rows)} specs;"
        f" {len(pairs.refused)} refused; {len(failures)} specs failed"
    )
    return summary, failures


INTRODUCTION = """\
# What goes with what

Written by `python -m specc.verify.random_specs --matrix docs/support_matrix.md`.

{n_features} features with {n_values} values make {n_pairs} pairs. {n_possible} are supported: each
stands in at least one of {n_rows} specs that were compiled, imported, run and compared with golden:
outputs and gradients in float64 to 1e-12, outputs in float32 to 1e-5, padded and not, with a cache
where there is one. {n_refused} are refused with a message, in every kind of model.

## Features and their values
"""

GRID = """
## Supported pairs

How many pairs of values of two features are supported; `7/8` means that one of eight is refused.
"""


def document(pairs: Pairs, n_rows: int) -> str:
    """The text of the file."""
    introduction = INTRODUCTION.format(
        n_features=len(SIZES),
        n_values=sum(SIZES),
        n_pairs=len(pairs.possible) + len(pairs.refused),
        n_possible=len(pairs.possible),
        n_refused=len(pairs.refused),
        n_rows=n_rows,
    )
    features = [_feature_line(i) for i in range(len(SIZES))]
    refused = ["", "## Refused pairs", "", *_refused(pairs)]
    return "\n".join([introduction, *features, GRID, *_grid(pairs), *refused, ""])


def _feature_line(index: int) -> str:
    return f"{index + 1}. **{FEATURES[index].name}**: {'; '.join(_WORDS[index])}"


def _grid(pairs: Pairs) -> Iterator[str]:
    numbers = range(1, len(SIZES))
    yield "| | " + " | ".join(str(i) for i in numbers) + " |"
    yield "|---" * len(SIZES) + "|"
    for j in numbers:
        cells = [_cell(pairs, i, j) if i < j else "" for i in range(len(SIZES) - 1)]
        yield f"| {j + 1}. {FEATURES[j].name} | " + " | ".join(cells) + " |"


def _cell(pairs: Pairs, i: int, j: int) -> str:
    total = SIZES[i] * SIZES[j]
    refused = sum((a[0], b[0]) == (i, j) for a, b in pairs.refused)
    return f"{total - refused}/{total}" if refused else str(total)


def _refused(pairs: Pairs) -> Iterator[str]:
    yield "| one | other | message |"
    yield "|---|---|---|"
    for i, j in combinations(range(len(SIZES)), 2):
        for (one, other), messages in pairs.refused.items():
            if (one[0], other[0]) == (i, j):
                told = "; ".join(dict.fromkeys(messages)).replace("|", "\\|")
                yield f"| {_shown(one)} | {_shown(other)} | {told} |"


def _shown(value: tuple[int, int]) -> str:
    feature, index = value
    return f"{FEATURES[feature].name}: {_WORDS[feature][index]}"
