"""Two runs beside each other: `python -m tests.benchmarks.compare OLD.json NEW.json`.

Between runs the machine changes, so every sample of the generated file is divided by what the other
ways of its round took; a cell has changed where the interval of the quotient leaves 1 out.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tests.benchmarks.cells import Cell, Key, stored_cells
from tests.benchmarks.ratios import Ratio, geometric_mean, ratio
from tests.benchmarks.report import OURS


@dataclass(frozen=True)
class Change:
    """One cell of both runs: how many times faster ours is now, by the clock and beside others."""

    key: Key
    by_clock: float
    beside_others: Ratio

    @property
    def is_real(self) -> bool:
        """Does it exceed noise?"""
        return not self.beside_others.low <= 1.0 <= self.beside_others.high


def changes(old: list[Cell], new: list[Cell]) -> list[Change]:
    """Of the cells that both runs have, with at least one other way in common."""
    before = {cell.key: cell for cell in old}
    found = []
    for cell in new:
        if cell.key not in before:
            continue
        was = before[cell.key]
        others = sorted((was.samples.keys() & cell.samples.keys()) - {OURS})
        if others and OURS in was.samples and OURS in cell.samples:
            by_clock = median(was.samples[OURS]) / median(cell.samples[OURS])
            beside = ratio(_beside(was, others), _beside(cell, others), paired=False)
            found.append(Change(cell.key, by_clock, beside))
    return found


def _beside(cell: Cell, others: list[str]) -> list[float]:
    """Ours over the mean of the others, round by round."""
    rounds = zip(*(cell.samples[name] for name in others), strict=True)
    return [o / geometric_mean(r) for o, r in zip(cell.samples[OURS], rounds, strict=True)]


def main(files: list[str]) -> int:
    """Print a line a cell, then those that changed; 1 when one became slower, 2 when misused."""
    if len(files) != 2:
        print(__doc__)
        return 2
    found = changes(*(stored_cells(Path(file)) for file in files))
    for each in found:
        mark = " *" if each.is_real else ""
        print(f"{each.key}: {each.beside_others} beside others, {each.by_clock:.2f} by clock{mark}")
    real = [each for each in found if each.is_real]
    slower = [each for each in real if each.beside_others.value < 1]
    print(f"{len(found)} cells, {len(real)} changed (*), {len(slower)} of them slower")
    return int(bool(slower))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
