"""How much memory and time a checkpoint of 2 GB takes to convert, beside copying its file.

`python tests/benchmarks/convert.py`: 1 when the peak of anonymous memory is over its budget. Files
are made on the spot, of random bytes, in a folder that is removed.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, sleep

import torch

from specc.convert.writing import Planned, writing
from specc.importers.layouts import LAYOUTS
from specc.ir.model import Model
from specc.pipeline import read_model
from specc.weights import Move, operations

SPECS = Path(__file__).resolve().parents[2] / "specs"
GIGA = 1e9
BUDGET = 1.0  # GB of anonymous memory
CHANGES = {
    "gpt2_xl": {"n_layers: 48": "n_layers: 31"},  # every matrix transposed
    "llama_3_2_1b": {"n_layers: 16": "n_layers: 12"},  # names alone
    "qwen3_30b_a3b": {"n_layers: 48": "n_layers: 1"},  # 3 x 128 experts stacked
}


@dataclass(frozen=True)
class Run:
    """One conversion: size of the file, peaks and seconds."""

    size: float
    anonymous: float
    seconds: float
    copied: float


def main() -> int:
    """Print one line a model; 1 when one takes too much memory."""
    print("spec             GB  anonymous GB  seconds  seconds to copy")
    worst = 0.0
    for name, changes in CHANGES.items():
        with tempfile.TemporaryDirectory() as folder:
            run = _measured(Path(folder), name, changes)
        worst = max(worst, run.anonymous)
        print(
            f"{name:<14} {run.size:5.2f} {run.anonymous:13.2f} {run.seconds:8.1f}"
            f" {run.copied:16.1f}",
            flush=True,
        )
    print(f"budget: {BUDGET:.1f} GB of anonymous memory; the peak is {worst:.2f} GB")
    return 1 if worst > BUDGET else 0


def _measured(folder: Path, name: str, changes: dict[str, str]) -> Run:
    spec, source = folder / f"{name}.yaml", folder / "model.safetensors"
    text = (SPECS / f"{name}.yaml").read_text(encoding="utf-8").split("\nledger:")[0]
    for old, new in changes.items():
        if old not in text:
            raise ValueError(f"{name} has no {old}")
        text = text.replace(old, new)
    spec.write_text(text, encoding="utf-8")
    _make(read_model(spec), source)
    start = perf_counter()
    shutil.copyfile(source, folder / "copy.safetensors")
    copied = perf_counter() - start
    (folder / "copy.safetensors").unlink()
    anonymous, seconds = _converted(spec, source, folder / "ours.safetensors")
    return Run(source.stat().st_size / GIGA, anonymous, seconds, copied)


def _make(model: Model, file: Path) -> None:
    """A published checkpoint in bfloat16, a tensor at a time."""
    layout = LAYOUTS[str(model.layout)]
    moves = [op for op in operations(model, layout) if isinstance(op, Move)]
    planned = [Planned(n.name, n.shape, "BF16") for move in moves for n in move.theirs]
    with writing(file, planned) as writer:
        for each in planned:
            writer.put(each.name, torch.randn(each.shape, dtype=torch.bfloat16))


def _converted(spec: Path, source: Path, target: Path) -> tuple[float, float]:
    """Peak of anonymous memory in GB, and seconds, of the verb in a process of its own."""
    command = [sys.executable, "-m", "specc", "convert", str(spec), str(source), "-o", str(target)]
    start, peak = perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, _anonymous(process.pid))
            sleep(0.002)
        if process.returncode:
            raise RuntimeError(f"specc convert ends with {process.returncode}")
    return peak / GIGA, perf_counter() - start


def _anonymous(process: int) -> int:
    """Bytes that no file backs, of a process that may have just ended (Linux)."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    sys.exit(main())
