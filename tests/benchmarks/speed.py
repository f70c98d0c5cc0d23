"""Generated files against the libraries that a person would take instead, and against floors.

`python -m tests.benchmarks.speed` writes docs/benchmarks.md and docs/benchmarks.json; 1 when a
budget fails or a peer is not installed. `--quick` for a smoke run, `--only` for some cells. Each
cell is stored at once: `--resume` goes on where a run was cut off.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import torch

from tests.benchmarks.cells import (
    EAGER,
    LENGTHS,
    MODES,
    START,
    TASKS,
    Cell,
    Key,
    measure,
    stored_cells,
)
from tests.benchmarks.machine import described, load
from tests.benchmarks.peers import PEERS, absent
from tests.benchmarks.report import judged, written
from tests.benchmarks.shapes import FAMILIES, GENERATED, ROOT, SIZES, Shape
from tests.benchmarks.startup import LENGTH, fitting, startup

SECONDS = 4.0  # of a cell, once it has its fewest samples
DOCS = ROOT / "docs"


def main() -> int:
    """Measure, store, write the table, say which budgets fail."""
    given = _given()
    torch.set_num_threads(given.threads)
    be_quiet()
    done = stored_cells(given.json) if given.resume and given.json.is_file() else []
    known = {cell.key for cell in done}
    wanted = [key for key in _keys() if _is_wanted(key, given) and key not in known]
    run: dict[str, Any] = {"machine": described(given.threads), "quick": given.quick}
    run["of"] = len(list(_keys()))
    start, before = perf_counter(), load()
    for cell in _measured(wanted, given):
        done.append(cell)
        run["machine"]["load"] = f"{before:.1f} before, {load():.1f} after, 1 of it this run's"
        run["machine"]["minutes"] = f"{(perf_counter() - start) / 60:.0f}, of this run"
        _store(run, done, given)
    failures = [each for each in judged(done) if not each.is_met]
    for each in failures:
        print(f"over budget: {each.name}: {each.found}")
    for name in absent():
        print(f"not installed: {name}")
    print(f"{len(done)} cells in {given.json}, the table in {given.table}")
    return int(bool(failures or absent()))


def _store(run: dict[str, Any], cells: list[Cell], given: argparse.Namespace) -> None:
    """What is known so far, and its table."""
    run["cells"] = [cell.json() for cell in cells]
    given.json.write_text(json.dumps(run) + "\n", encoding="utf-8", newline="\n")
    given.table.write_text(written(run), encoding="utf-8", newline="\n")


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="the smallest size, eager, briefly")
    parser.add_argument("--only", default="", help="cells whose name holds these, with commas")
    parser.add_argument("--resume", action="store_true", help="keep the cells that are stored")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a cell")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--files", type=Path, default=GENERATED, help="folder of generated files")
    parser.add_argument("--json", type=Path, default=DOCS / "benchmarks.json")
    parser.add_argument("--table", type=Path, default=DOCS / "benchmarks.md")
    return parser.parse_args()


def _keys() -> Iterator[Key]:
    for family in FAMILIES:
        for size in SIZES:
            yield Key(family, size, START, LENGTH, EAGER)
            for mode in MODES:
                for task in TASKS:
                    for length in LENGTHS[task]:
                        yield Key(family, size, task, length, mode)


def _is_wanted(key: Key, given: argparse.Namespace) -> bool:
    if given.quick and (key.size != SIZES[0] or key.mode != EAGER):
        return False
    words = [word.strip() for word in given.only.split(",")]
    return all(word in str(key) for word in words)


def _measured(wanted: list[Key], given: argparse.Namespace) -> Iterator[Cell]:
    missing = absent()
    here = [name for name in PEERS if name not in missing]
    for family in FAMILIES:
        for size in SIZES:
            keys = [key for key in wanted if (key.family, key.size) == (family, size)]
            shape = Shape(family, size, given.files)
            names = fitting(family, here)
            if any(key.task == START for key in keys):
                yield _said(startup(shape, names, given.threads))
            inside = [key for key in keys if key.task != START]
            if inside:
                peers = [PEERS[name](shape) for name in names]
                ways = {peer.name: (peer, peer.build()) for peer in peers}
                for key in inside:
                    yield _said(measure(key, ways, 0.0 if given.quick else given.seconds))


def _said(cell: Cell) -> Cell:
    times = ", ".join(f"{n} {median(t) * 1e3:.2f}" for n, t in cell.samples.items())
    print(f"{cell.key}: {times} ms", flush=True)
    return cell


def be_quiet() -> None:
    """Advice of libraries is not for those who read times."""
    warnings.filterwarnings("ignore")
    for name in ("transformers", "torch._dynamo", "torch._inductor", "torch.fx"):
        logging.getLogger(name).setLevel(logging.ERROR)


if __name__ == "__main__":
    sys.exit(main())
