"""A mistake that no choice of the spec expresses: wrong code, as an edit of the finished file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specc.ir.model import Model
from specc.verify.mutants.mutant import Reason, matters
from specc.verify.mutants.patterns import replaced

Needs = Callable[[Model], bool]


def always(_model: Model) -> bool:
    """A mistake that any file may hold."""
    return True


@dataclass(frozen=True)
class CodeMutant:
    """One wrong piece of code. `harmless` as in `Mutant`; `needs` says which models are meant."""

    name: str
    edit: Callable[[str], str | None]
    harmless: Reason = matters
    needs: Needs = always


def swap(
    name: str,
    pattern: str,
    replacement: str,
    harmless: Reason = matters,
    needs: Needs = always,
) -> CodeMutant:
    """`pattern` replaced wherever it stands."""
    return CodeMutant(
        f"code: {name}", lambda text: replaced(text, pattern, replacement), harmless, needs
    )
