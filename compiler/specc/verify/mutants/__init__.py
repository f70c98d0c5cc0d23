"""Proves that the checks notice: every mistake that a spec's parts declare is made, and must be found.

A wrong choice is an edit of the IR, rendered and compared with golden of the right one; wrong code is an
edit of the finished file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from specc.ir.model import Model
from specc.ir.walk import walk
from specc.pipeline import compile_fully
from specc.render import render
from specc.verify import ALL, COMPILING, Check, quiet_torch
from specc.verify.checks.check import run_check
from specc.verify.loading import LoadError, loaded
from specc.verify.mutants.code import CODE_MUTANTS
from specc.verify.mutants.mutant import Reason
from specc.verify.mutants.registry import MUTANTS
from specc.verify.report import CheckResult, Status
from specc.verify.subject import Subject

__all__ = ["CODE_MUTANTS", "MUTANTS", "Fate", "MutantResult", "run_mutants"]

# Last: the numbers of Config would hide what the other checks see; the others are dear.
LATE = ("config", "parameter_count", "overfit")


class Fate(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True)
class MutantResult:
    """`by` is the check that noticed, `margin` its difference / limit, `reason` its evidence or the excuse."""

    name: str
    status: Fate
    by: str | None
    margin: float | None
    reason: str

    def to_dict(self) -> dict[str, str | float | None]:
        """The form that `--format json` prints."""
        return {
            "name": self.name,
            "status": self.status.value,
            "by": self.by,
            "margin": self.margin,
            "reason": self.reason,
        }


def run_mutants(path: str | Path) -> tuple[MutantResult, ...]:
    """Make and try every mutant of the spec at `path`. Raises SpecError and OSError."""
    compilation = compile_fully(path)
    return try_mutants(compilation.model, compilation.artifact.text)


def try_mutants(model: Model, text: str) -> tuple[MutantResult, ...]:
    """The same for a model and its finished file."""
    with quiet_torch():
        return tuple(
            _tried(name, wrong, text, model, harmless)
            for name, wrong, harmless in _mutants(model, text)
        )


def _mutants(model: Model, text: str) -> Iterator[tuple[str, str, Reason]]:
    """(name, text of the wrong file, excuse)."""
    kinds = {type(part).__name__ for part in walk(model.stacks + model.heads)}
    for kind, mutants in MUTANTS.items():
        for mutant in mutants if kind in kinds else ():
            edited = mutant.edit(model)
            if edited is not None:
                yield mutant.name, render(edited), mutant.harmless
    for code in CODE_MUTANTS:
        wrong = code.edit(text)
        if wrong is not None:
            yield code.name, wrong, code.harmless


def _tried(name: str, wrong: str, right: str, model: Model, harmless: Reason) -> MutantResult:
    killer = _first_failure(model, wrong)
    if killer is not None:
        return MutantResult(name, Fate.KILLED, killer.name, killer.margin, killer.evidence)
    reason = harmless(model)
    if reason is not None:
        return MutantResult(name, Fate.EQUIVALENT, None, None, reason)
    same = "the file is the same" if wrong == right else "no check noticed"
    return MutantResult(name, Fate.SURVIVED, None, None, same)


def _first_failure(model: Model, text: str) -> CheckResult | None:
    try:
        with loaded(text, model.name) as file:
            subject = Subject(model, file)
            for check in _order():
                result = run_check(check, subject)
                if result.status is Status.FAIL:
                    return result
    except LoadError as error:
        return CheckResult("imports", Status.FAIL, str(error), "", None, 0.0)
    return None


def _order() -> tuple[Check, ...]:
    early = [check for check in ALL if check.name not in (*LATE, *COMPILING)]
    return (*early, *(check for check in ALL if check.name in LATE))
