"""The table of a run and the verdict on every budget, from stored samples alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from tests.benchmarks import floors
from tests.benchmarks.cells import BATCHES, DECODE, LIMIT, MODES, PREFILL, START, STEPS, TASKS, Cell
from tests.benchmarks.peers import PEERS, UNFIT
from tests.benchmarks.ratios import RESAMPLES, Ratio, geometric_mean, ratio
from tests.benchmarks.shapes import FAMILIES, SIZES
from tests.prove.tables import table

OURS, LIBRARY = "specc", "transformers"
SMALL, LARGE = SIZES[0], SIZES[-1]
SMALL_DECODE, START_UP = 1.5, 2.5  # at least, against transformers
FLOORS = {PREFILL: 1.10, DECODE: 1.15}  # at most, at the largest size


@dataclass(frozen=True)
class Verdict:
    """One budget, what was found, and whether it is met."""

    name: str
    found: str
    is_met: bool


def peers_of(cell: Cell) -> list[str]:
    """The other libraries of a cell."""
    return [name for name in cell.samples if name in PEERS and name != OURS]


def against(cell: Cell, name: str) -> Ratio:
    """How many times longer a way takes than ours."""
    return ratio(cell.samples[name], cell.samples[OURS])


def over_floor(cell: Cell) -> Ratio | None:
    """How many times longer ours takes than the fastest floor of the cell."""
    ways = [name for name in cell.samples if name not in PEERS]
    if not ways:
        return None
    least = min(ways, key=lambda name: median(cell.samples[name]))
    return ratio(cell.samples[OURS], cell.samples[least])


def falls_short(cell: Cell) -> bool:
    """Whether the cell misses a budget of its own, of those that speed is judged by."""
    if any(against(cell, name).is_slower for name in peers_of(cell)):
        return True
    if _is_small_decode(cell) and LIBRARY in cell.samples:
        return against(cell, LIBRARY).value < SMALL_DECODE
    found = over_floor(cell)
    if cell.key.size != LARGE or found is None:
        return False
    return found.value > FLOORS[cell.key.task]


def judged(cells: Sequence[Cell]) -> list[Verdict]:
    """Every budget that the cells say something of."""
    found = [
        verdict
        for mode in MODES
        for task in TASKS
        for name in PEERS
        for verdict in _no_slower(cells, name, task, mode)
    ]
    found += _at_least(cells, f"decode at {SMALL}", SMALL_DECODE, _is_small_decode)
    found += _at_least(cells, "start-up", START_UP, lambda cell: cell.key.task == START)
    found += _near(cells, PREFILL, floors.PRODUCTS)
    found += _near(cells, DECODE, floors.READING)
    return found


def _no_slower(cells: Sequence[Cell], name: str, task: str, mode: str) -> Iterator[Verdict]:
    """No cell beyond noise, and no mean over sizes."""
    mine = [c for c in cells if (c.key.task, c.key.mode) == (task, mode) and name in peers_of(c)]
    if not mine:
        return
    ratios = {cell.key: against(cell, name) for cell in mine}
    worst = min(ratios, key=lambda key: ratios[key].value)
    means = {}
    for group in sorted({(key.family, key.length) for key in ratios}):
        values = [r.value for key, r in ratios.items() if (key.family, key.length) == group]
        means[group] = geometric_mean(values)
    lowest = min(means, key=lambda group: means[group])
    slower = sum(r.is_slower for r in ratios.values())
    found = (
        f"slower in {slower} of {len(ratios)} cells; least {ratios[worst]} at {worst.family}"
        f" {worst.size}, {worst.length}; least mean over sizes {means[lowest]:.2f} at {lowest[0]},"
        f" {lowest[1]}"
    )
    yield Verdict(
        f"{task}, {mode}, against {name}: no ratio below 1 beyond noise, no mean over sizes below"
        " 1",
        found,
        slower == 0 and means[lowest] >= 1.0,
    )


def _is_small_decode(cell: Cell) -> bool:
    return (cell.key.task, cell.key.size) == (DECODE, SMALL)


def _at_least(
    cells: Sequence[Cell], what: str, least: float, picks: Callable[[Cell], bool]
) -> Iterator[Verdict]:
    for cell in cells:
        if picks(cell) and LIBRARY in cell.samples:
            found = against(cell, LIBRARY)
            name = f"{what} against {LIBRARY}: at least {least} ({cell.key})"
            yield Verdict(name, str(found), found.value >= least)


def _near(cells: Sequence[Cell], task: str, floor: str) -> Iterator[Verdict]:
    most = FLOORS[task]
    for cell in cells:
        found = over_floor(cell)
        if (cell.key.task, cell.key.size) == (task, LARGE) and found is not None:
            name = f"{task} at {LARGE} over {floor}: at most {most:.2f} ({cell.key})"
            yield Verdict(name, str(found), found.value <= most)


def written(run: dict[str, Any]) -> str:
    """The page."""
    cells = [Cell.of(stored) for stored in run["cells"]]
    verdicts = judged(cells)
    met = sum(each.is_met for each in verdicts)
    rows = [(each.name, each.found, "yes" if each.is_met else "NO") for each in verdicts]
    parts = [
        "# Benchmarks",
        _method(),
        f"{len(cells)} of {run['of']} cells are measured.",
        "## Machine",
        table(("what", "it is"), list(run["machine"].items())),
        f"## Budgets: {met} of {len(verdicts)} met",
        table(("budget", "found", "met"), rows),
        "[profiles.md](profiles.md) shows where the time goes in the cells that fall short.",
    ]
    for task in (*TASKS, START):
        mine = [cell for cell in cells if cell.key.task == task]
        if mine:
            parts += [f"## {task.capitalize()}", _cells_table(mine)]
    return "\n\n".join([*parts, "## Not compared", _missing(cells)]) + "\n"


def _method() -> str:
    batches = ", ".join(f"{count} at {size}" for size, count in BATCHES.items())
    steps = ", ".join(f"{count} at {size}" for size, count in STEPS.items())
    return (
        "Written by `make bench`; nothing here is by hand. Float32. All ways of a cell do the same"
        f" work with the same weights, and agree to {LIMIT:g} before they are timed; they take"
        " turns in one process, garbage collection off. A ratio is the median of the other's times"
        " over the median of the generated file's: above 1, the generated file is faster. In"
        f" brackets the 95 % interval of {RESAMPLES} bootstrap resamples of the rounds.\n\n"
        "Prefill: all logits of one text, no cache, inference mode. Training step: forward,"
        " cross-entropy, backward and fused AdamW (at a rate of 0, which keeps all weights equal);"
        f" batch {batches}. Decode: one step behind a prompt, batch 1, mean over {steps} steps;"
        " compiled, transformers has its StaticCache. Compiled is `torch.compile` as it is by"
        " default. Both specs ask for `cpu_decode`. Start-up: a fresh process that imports torch"
        " and the library, builds the model with random weights and runs 64 tokens. x-transformers"
        " has no biases in GPT-2's attention and norms: they are 0 in all, and it has fewer"
        " parameters to train. Dropout is 0. Floors: the bare matrix products of the prefill;"
        " reading every weight once, by products with a vector or by sums, whichever is faster."
    )


def _cells_table(cells: Sequence[Cell]) -> str:
    others = [name for name in PEERS if any(name in peers_of(cell) for cell in cells)]
    has_floor = any(over_floor(cell) for cell in cells)
    head = ["model", "size", "length", "mode", "specc, ms", *others]
    rows = []
    for cell in cells:
        key = cell.key
        row = [key.family, key.size, str(key.length), key.mode, _milliseconds(cell)]
        row += [str(against(cell, n)) if n in cell.samples else "–" for n in others]
        rows.append([*row, str(over_floor(cell))] if has_floor else row)
    return table([*head, "specc over its floor"] if has_floor else head, rows)


def _milliseconds(cell: Cell) -> str:
    return f"{median(cell.samples[OURS]) * 1e3:.3g} of {len(cell.samples[OURS])} samples"


def _missing(cells: Sequence[Cell]) -> str:
    lines = [f"- {name} in {family}: {reason}" for (family, name), reason in UNFIT.items()]
    for name in (n for n in PEERS if n != OURS):
        whys: dict[str, list[str]] = {}
        for cell in cells:
            if name in cell.missing:
                whys.setdefault(cell.missing[name], []).append(str(cell.key))
        for why, keys in whys.items():
            lines.append(f"- {name} in {len(keys)} cells ({keys[0]} first): {why}")
    if len({cell.key.family for cell in cells}) < len(FAMILIES):
        lines.append("- not all models were measured in this run")
    return "\n".join(lines)
