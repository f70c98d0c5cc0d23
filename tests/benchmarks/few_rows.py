"""What `features: [cpu_decode]` gains, in docs/few_rows.md: `python -m tests.benchmarks.few_rows`.

The `linear` of a generated file beside torch's, on weights that no cache holds, for as many rows
as texts are continued at once; and how long it takes to read the weight at all.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from statistics import median

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.benchmarks.machine import described, in_short
from tests.benchmarks.shapes import GENERATED, GPT2, ROOT, names_in
from tests.benchmarks.timing import Work, interleaved
from tests.prove.tables import table

Product = Callable[[Tensor, Tensor], Tensor]

SHAPES = ((384, 384), (1536, 384), (768, 768), (3072, 768), (768, 3072), (32000, 768), (50257, 768))
ROWS = (1, 2, 4)
TOGETHER = 2**26  # numbers of all weights that take turns: 256 MiB
SECONDS = 1.0  # of one shape and number of rows
READING, TORCH, OURS = "reading", "F.linear", "linear"


def main() -> int:
    """Measure and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--table", type=Path, default=ROOT / "docs" / "few_rows.md")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    linear: Product = names_in(GENERATED / f"{GPT2}.py")["linear"]
    with torch.inference_mode():
        lines = [_line(linear, shape, rows) for shape in SHAPES for rows in ROWS]
    head = ["outputs", "inputs", "rows", f"{READING}, us", f"{TORCH}, us", f"{OURS}, us", "faster"]
    page = [_head(described(given.threads)), table(head, lines)]
    given.table.write_text("\n\n".join(page) + "\n", encoding="utf-8", newline="\n")
    return 0


def _line(linear: Product, shape: tuple[int, int], rows: int) -> list[str]:
    outputs, inputs = shape
    weights = [torch.randn(shape) for _ in range(max(2, TOGETHER // (outputs * inputs)))]
    x = torch.randn(rows, 1, inputs)
    torch.testing.assert_close(linear(x, weights[0]), F.linear(x, weights[0]), rtol=0, atol=1e-3)
    ways: dict[str, Callable[[Tensor], Tensor]] = {
        READING: Tensor.sum,
        TORCH: lambda weight: F.linear(x, weight),
        OURS: lambda weight: linear(x, weight),
    }
    works = {name: _taking_turns(do, weights) for name, do in ways.items()}
    found = {name: median(times) * 1e6 for name, times in interleaved(works, SECONDS).items()}
    times = [f"{found[name]:,.0f}" for name in (READING, TORCH, OURS)]
    return [str(outputs), str(inputs), str(rows), *times, f"{found[TORCH] / found[OURS]:.1f}"]


def _taking_turns(do: Callable[[Tensor], Tensor], weights: list[Tensor]) -> Work:
    """One call on the next of the weights."""
    turn = cycle(weights)
    return Work(lambda: do(next(turn)))


def _head(machine: dict[str, str]) -> str:
    return (
        "# Products with few rows\n\n"
        "Written by `python -m tests.benchmarks.few_rows`. The product of a weight with one to four"
        " rows, a token of so many texts, by `F.linear` and by the `linear` of a generated file"
        " whose spec asks for `cpu_decode`; and the sum of the weight's numbers, which reads them"
        f" once. Float32, medians, weights that no cache holds. {in_short(machine)}."
    )


if __name__ == "__main__":
    sys.exit(main())
