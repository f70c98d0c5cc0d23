"""Where the time goes in cells that fall short: `python -m tests.benchmarks.profiles`.

Reads the cells of docs/benchmarks.json, runs those again under torch's profiler, and writes
docs/profiles.md; `--only` for some cells, whether they fall short or not.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import torch
from torch.profiler import ProfilerActivity, profile

from tests.benchmarks.cells import EAGER, START, Key, made_ready, stored_cells
from tests.benchmarks.machine import described, in_short
from tests.benchmarks.peers import BY_FAMILY, PEERS
from tests.benchmarks.report import LARGE, OURS, SMALL, falls_short
from tests.benchmarks.shapes import ROOT, Shape
from tests.benchmarks.speed import be_quiet
from tests.benchmarks.timing import Work, once
from tests.prove.tables import table

DOCS = ROOT / "docs"
ROUNDS = 5
MOST_ROWS = 16
MILLION = 1e6


@dataclass(frozen=True)
class Spent:
    """Microseconds of one unit of work: in all without the profiler, and in each kernel."""

    whole: float
    kernels: Mapping[str, tuple[float, float]]  # microseconds, calls


def main() -> int:
    """Profile the cells and write the page."""
    given = _given()
    torch.set_num_threads(given.threads)
    be_quiet()
    words = [word.strip() for word in given.only.split(",") if word.strip()]
    cells = [cell for cell in stored_cells(given.json) if cell.key.task != START]
    if words:
        keys = [cell.key for cell in cells if all(word in str(cell.key) for word in words)]
    else:
        keys = [c.key for c in cells if c.key.mode == EAGER and falls_short(c)]
    parts = [_head(described(given.threads))]
    for key in keys:
        print(key, flush=True)  # a script
        parts += [f"## {key}", _table(_profiled(key))]
        given.table.write_text("\n\n".join(parts) + "\n", encoding="utf-8", newline="\n")
    return 0


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="cells whose name holds these, with commas")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", type=Path, default=DOCS / "benchmarks.json")
    parser.add_argument("--table", type=Path, default=DOCS / "profiles.md")
    return parser.parse_args()


def _head(machine: Mapping[str, object]) -> str:
    return (
        "# Where the time goes\n\n"
        "Written by `python -m tests.benchmarks.profiles` for the cells of"
        " [benchmarks.md](benchmarks.md) that fall short of a budget: slower than a library beyond"
        f" noise, below the factor wanted of decoding at {SMALL}, or too far from a floor at"
        f" {LARGE}. Compiled cells are asked for by name (`--only`): their kernels have no names of"
        " operations. Microseconds of one unit of work (a prefill, a training step, one token), and"
        " how many calls of a kernel it makes; the time of a kernel is its own, as torch's"
        f" profiler tells, and the whole is the median of {ROUNDS} runs without the profiler,"
        f" which slows down what stands between kernels. {in_short(machine)}."
    )


def _profiled(key: Key) -> dict[str, Spent]:
    shape = Shape(key.family, key.size)
    peers = [PEERS[name](shape) for name in BY_FAMILY[key.family]]
    with made_ready(key, {peer.name: (peer, peer.build()) for peer in peers}) as ready:
        return {name: _spent(work) for name, work in ready.works.items()}


def _spent(work: Work) -> Spent:
    whole = median(once(work) for _ in range(ROUNDS)) / work.units * MILLION
    work.ready()
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        work.do()
    kernels = {
        event.key.removeprefix("aten::"): (
            event.self_cpu_time_total / work.units,
            event.count / work.units,
        )
        for event in profiler.key_averages()
    }
    return Spent(whole, kernels)


def _table(found: Mapping[str, Spent]) -> str:
    names = {name for spent in found.values() for name in spent.kernels}
    dearest = sorted(names, key=lambda name: -max(_of(each, name)[0] for each in found.values()))
    shown = sorted(dearest[:MOST_ROWS], key=lambda name: -_of(found[OURS], name)[0])
    rows = [["the whole", *(f"{spent.whole:,.0f}" for spent in found.values())]]
    rows += [[name, *(_cell(spent, name) for spent in found.values())] for name in shown]
    return table(["kernel", *found], rows)


def _of(spent: Spent, name: str) -> tuple[float, float]:
    return spent.kernels.get(name, (0.0, 0.0))


def _cell(spent: Spent, name: str) -> str:
    microseconds, calls = _of(spent, name)
    return f"{microseconds:,.1f} in {calls:,.3g}" if calls else "–"


if __name__ == "__main__":
    sys.exit(main())
