"""specc: a compiler from transformer specs (YAML) to standalone, verified PyTorch files.

Three names do the work: `compile_spec` makes the text, `load` makes the text and runs it,
`SpecError` says what is wrong with a spec, and where. Importing this package imports neither torch
nor the compiler's own dependencies.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from specc.artifact import Artifact
from specc.diagnostics import Diagnostic, Position, SpecError

if TYPE_CHECKING:
    from specc.loading import Loaded

__all__ = ["Artifact", "Diagnostic", "Position", "SpecError", "compile_spec", "load"]
__version__ = "0.1.0"


def compile_spec(
    path: str | Path | None = None, *, text: str | None = None, strict: bool = False
) -> Artifact:
    """Compile a spec, given as a file or as a text, to one standalone PyTorch file.

    `strict` also refuses choices that the spec's ledger does not account for. Raises `SpecError`
    for a bad spec, `OSError` when the file cannot be read, and `TypeError` unless exactly one of
    `path` and `text` is given.
    """
    from specc.pipeline import compile_spec as run

    return run(path, text=text, strict=strict)


def load(path: str | Path) -> Loaded:
    """Compile a spec and import the result: `load("specs/gpt2.yaml").Model`. Needs torch.

    Raises what `compile_spec` raises, and `ModuleNotFoundError` without torch.
    """
    from specc.loading import load as run

    return run(path)
