"""`specc verify`: run every check on the file of each spec, or on that file broken in many ways."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from specc.cli.failure import Code, Failure
from specc.cli.sources import find_specs
from specc.cli.table import Format, show

MOST_JOBS = 8  # each holds torch and a model
NEEDS_TORCH = "specc verify needs torch: pip install 'torch-specc[verify]'"
NEEDS_LIBRARY = "--against hf needs transformers: pip install 'torch-specc[hf]'"


def verify(arguments: Sequence[Path], file: Path | None, how: Format) -> Code:
    """Print the evidence; `Code.DRIFT` when a check fails. Raises `Failure` and `SpecError`."""
    specs = find_specs(arguments)
    if file is not None and len(specs) > 1:
        raise Failure(f"--file takes one spec, and there are {len(specs)}")
    _need_torch()
    from specc.verify import verify as run

    reports = [run(spec, file) for spec in specs]
    show(reports, how)
    return Code.FINE if all(report.passed for report in reports) else Code.DRIFT


def verify_mutants(arguments: Sequence[Path], file: Path | None, how: Format) -> Code:
    """Print what became of each mutant; `Code.DRIFT` when one survives. Raises as `verify` does."""
    specs = find_specs(arguments)
    if file is not None:
        raise Failure("--mutants breaks files of its own: it does not go with --file")
    _need_torch()
    from specc.cli.mutants import show_mutants
    from specc.verify.mutants import run_mutants

    reports = [run_mutants(spec, min(os.cpu_count() or 1, MOST_JOBS)) for spec in specs]
    show_mutants(reports, how)
    return Code.FINE if all(report.passed for report in reports) else Code.DRIFT


def verify_against(arguments: Sequence[Path], file: Path | None, how: Format) -> Code:
    """Print how far each model lies from the library's; `Code.DRIFT` when one lies too far.

    Raises as `verify` does.
    """
    specs = find_specs(arguments)
    if file is not None:
        raise Failure("--against compares a fresh build: it does not go with --file")
    _need_torch()
    if any(find_spec(name) is None for name in ("safetensors", "transformers")):
        raise Failure(NEEDS_LIBRARY)
    from specc.verify.against import NoDialectError
    from specc.verify.against import verify_against as run

    try:
        reports = [run(spec) for spec in specs]
    except NoDialectError as error:
        raise Failure(str(error)) from error
    show(reports, how)
    return Code.FINE if all(report.passed for report in reports) else Code.DRIFT


def _need_torch() -> None:
    try:
        import torch  # noqa: F401  # asked for here, so that only its own absence is reported so
    except ModuleNotFoundError as error:
        raise Failure(NEEDS_TORCH) from error
