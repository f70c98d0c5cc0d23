"""Test files to vendor beside a model: golden's numbers, frozen in a file that needs no specc."""

from __future__ import annotations

from specc.artifact import Artifact
from specc.pipeline import Compilation, stamped
from specc.render.tests import render_tests
from specc.verify.vendored.measure import measure

__all__ = ["measure", "vendor"]


def vendor(compilation: Compilation, module: str | None = None) -> Artifact:
    """The test file of a compiled spec whose model lies in `module`.py, or under its own name."""
    name = module or compilation.model.name
    text = render_tests(compilation.model, measure(compilation.model), name)
    return stamped(f"test_{name}.py", text, compilation.source, is_measured=True)
