"""`specc shapes`: run a model file, generated or not, and hold its shape comments against it."""

from __future__ import annotations

from pathlib import Path

from specc.cli.failure import Code, Failure
from specc.cli.out import say

NEEDS_TORCH = "specc shapes needs torch: pip install 'torch-specc[verify]'"


def shapes(file: Path) -> Code:
    """A line a lie, then the count; `Code.DRIFT` when there are lies. Raises `Failure`, OSError."""
    try:
        import torch  # noqa: F401  # asked for here, so that only its own absence is reported so
    except ModuleNotFoundError as error:
        raise Failure(NEEDS_TORCH) from error
    from specc.verify import quiet_torch
    from specc.verify.shapes import LoadError, UncallableError, examine

    try:
        text = file.read_bytes().decode("utf-8")
        with quiet_torch():
            observed = examine(text)
    except UnicodeDecodeError as error:
        raise Failure(f"{file} is not UTF-8") from error
    except (LoadError, UncallableError) as error:
        raise Failure(f"{file}: {error}") from error
    for lie in observed.lies:
        say(f"{file}:{lie.line or 1}: {lie.message}")
    lying = len({lie.line for lie in observed.lies})
    if lying:
        say(f"{file}: shape comments lie on {lying} of its lines")
        return Code.DRIFT
    say(f"{file}: {observed.count} shape comments say what a run shows")
    return Code.FINE
