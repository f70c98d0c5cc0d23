"""Parity with the library that published weights come from, on tensors of both.

Both models are built small from one IR; ours is the generated file, filled with what the library
gives back. Needs transformers.
"""

from __future__ import annotations

from pathlib import Path
from time import perf_counter

import torch

from specc.importers.hf_configs import NoDialectError, dialect_of
from specc.importers.layouts import LAYOUTS
from specc.pipeline import compile_fully
from specc.verify import quiet_torch
from specc.verify.against.comparisons import COMPARISONS, Comparison
from specc.verify.against.library import quiet_library
from specc.verify.against.pair import Pair
from specc.verify.calls import RefutedError
from specc.verify.loading import describe, loaded
from specc.verify.report import CheckResult, Report, failed
from specc.weights import WeightsError

__all__ = ["COMPARISONS", "NoDialectError", "verify_against"]


def verify_against(path: str | Path | None = None, *, text: str | None = None) -> Report:
    """Compare the file that a spec compiles to with transformers' class of its layout.

    Raises SpecError, OSError, and NoDialectError where no class computes the model.
    """
    compilation = compile_fully(path, text=text)
    model = compilation.model
    dialect = dialect_of(model)
    layout = LAYOUTS[dialect.layout]
    with (
        quiet_torch(),
        quiet_library(),
        loaded(compilation.artifact.text, model.name) as file,
    ):
        pair = Pair(model, file, dialect, layout)
        shown = f"{compilation.source.name} against transformers' {dialect.architecture}"
        return Report(shown, tuple(_run(each, pair) for each in COMPARISONS))


def _run(comparison: Comparison, pair: Pair) -> CheckResult:
    start = perf_counter()
    torch.manual_seed(0)
    try:
        outcome = comparison.run(pair)
    except (RefutedError, WeightsError, ValueError, RuntimeError) as error:
        outcome = failed(describe(error, str(pair.file.module.__file__)))
    return CheckResult(
        comparison.name,
        outcome.status,
        outcome.evidence,
        comparison.proves,
        outcome.margin,
        perf_counter() - start,
        outcome.share,
    )
