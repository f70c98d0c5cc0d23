"""Every published spec in onnxruntime: `python -m tests.prove.onnx`."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import onnxruntime
import torch

from specc.pipeline import compile_fully
from tests.outside.onnx import onnx_error, subject_of
from tests.prove.tables import PUBLISHED, for_each, say, spec_file, table, timed, write

LIMIT = 1e-5
KINDS = ("no padding", "padded")


def main() -> int:
    """Export them all; 1 when one differs."""
    found = for_each(_one, PUBLISHED)
    rows = [
        (name, *errors.values(), round(seconds))
        for name, (errors, seconds) in zip(PUBLISHED, found, strict=True)
    ]
    wrong = [name for name, (errors, _) in zip(PUBLISHED, found, strict=True) if _is_off(errors)]
    write(
        "onnx.md",
        "# Every published spec in onnxruntime",
        f"Written by `make prove`; torch {torch.__version__}, onnxruntime"
        f" {onnxruntime.__version__}. Each model is built small, exported once without and once"
        " with padding by `torch.onnx.export(dynamo=True)` with dynamic batch and lengths, and run"
        " at three lengths and two batch sizes: the largest relative error to the live file, in"
        f" float32. The limit is {LIMIT:.0e}.",
        table(("spec", *KINDS, "seconds"), rows),
    )
    say(f"{len(PUBLISHED)} specs, beyond {LIMIT:.0e}: {wrong}")
    return 1 if wrong else 0


def _is_off(errors: dict[str, float]) -> bool:
    return not all(error <= LIMIT for error in errors.values())


def _one(name: str) -> tuple[dict[str, float], float]:
    return timed(lambda: _errors(name))


def _errors(name: str) -> dict[str, float]:
    with TemporaryDirectory() as folder, subject_of(compile_fully(spec_file(name))) as subject:
        traced = subject.build_stressed(torch.float32)
        kinds = zip(KINDS, (subject.plain, subject.padded), strict=True)
        return {
            kind: onnx_error(subject, traced, inputs, Path(folder) / f"{i}.onnx")
            for i, (kind, inputs) in enumerate(kinds)
        }


if __name__ == "__main__":
    sys.exit(main())
