"""How long a fresh process takes to import a library, build a model and run it for the first time.

Every sample is a process of its own, its start and torch's import included.
"""

from __future__ import annotations

import os
import subprocess
import sys
from time import perf_counter

from tests.benchmarks.cells import EAGER, START, Cell, Key
from tests.benchmarks.peers import BY_FAMILY, PEERS
from tests.benchmarks.shapes import Shape
from tests.benchmarks.timing import FEWEST

LENGTH = 64
HEAD = """
import torch
torch.set_num_threads({threads})
tokens = torch.arange({length})[None]
torch.set_grad_enabled(False)
"""


def startup(shape: Shape, names: list[str], threads: int) -> Cell:
    """One way after the other, some rounds, after one round that fills the caches of bytecode."""
    head = HEAD.format(threads=threads, length=LENGTH)
    scripts = {name: head + PEERS[name](shape).script() for name in names}
    samples: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(FEWEST + 1):
        for name, script in scripts.items():
            samples[name].append(_seconds(script, shape))
    warm = {name: times[1:] for name, times in samples.items()}
    return Cell(Key(shape.family, shape.size, START, LENGTH, EAGER), warm)


def _seconds(script: str, shape: Shape) -> float:
    path = os.pathsep.join(p for p in (str(shape.folder), os.environ.get("PYTHONPATH")) if p)
    changed = {"PYTHONPATH": path, "HF_HUB_OFFLINE": "1"}
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = perf_counter()
    subprocess.run(
        [sys.executable, "-c", script], env=kept | changed, check=True, stderr=subprocess.DEVNULL
    )
    return perf_counter() - start


def fitting(family: str, installed: list[str]) -> list[str]:
    """The peers of a family that are here."""
    return [name for name in BY_FAMILY[family] if name in installed]
