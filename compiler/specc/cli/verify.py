"""`specc verify`: run every check on the file of each spec. The only verb that needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from specc.cli.failure import Code, Failure
from specc.cli.sources import find_specs
from specc.cli.table import Format, show

NEEDS_TORCH = "specc verify needs torch: pip install 'torch-specc[verify]'"


def verify(arguments: Sequence[Path], file: Path | None, how: Format) -> Code:
    """Print the evidence; `Code.DRIFT` when a check fails. Raises `Failure` and `SpecError`."""
    specs = find_specs(arguments)
    if file is not None and len(specs) > 1:
        raise Failure(f"--file takes one spec, and there are {len(specs)}")
    try:
        import torch  # noqa: F401  # asked for here, so that only its own absence is reported so
    except ModuleNotFoundError as error:
        raise Failure(NEEDS_TORCH) from error
    from specc.verify import verify as run

    reports = [run(spec, file) for spec in specs]
    show(reports, how)
    return Code.FINE if all(report.passed for report in reports) else Code.DRIFT
