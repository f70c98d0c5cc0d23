"""The test files of a build: golden's numbers for each model. The only part of a build that needs
torch, which is asked for when a test file is.
"""

from __future__ import annotations

from collections.abc import Sequence

from specc.artifact import Artifact
from specc.cli.failure import Failure
from specc.cli.sources import File, Folder
from specc.pipeline import Compilation

NEEDS_TORCH = "test files need torch: pip install 'torch-specc[verify]'"


def artifacts(
    compilations: Sequence[Compilation], target: Folder | File, *, with_tests: bool
) -> tuple[Artifact, ...]:
    """The files of these specs, test files last. Raises `Failure`."""
    models = tuple(compilation.artifact for compilation in compilations)
    return (*models, *_tests(compilations, target)) if with_tests else models


def _tests(compilations: Sequence[Compilation], target: Folder | File) -> list[Artifact]:
    name = target.path.stem if isinstance(target, File) else None
    if name is not None and not name.isidentifier():
        raise Failure(f"a test file cannot import {name}.py: {name!r} is no Python name")
    try:
        import torch  # noqa: F401  # asked for here, so that only its own absence is reported so
    except ModuleNotFoundError as error:
        raise Failure(NEEDS_TORCH) from error
    from specc.verify.vendored import vendor

    return [vendor(compilation, name) for compilation in compilations]
