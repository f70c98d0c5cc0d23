"""Proves that the checks notice: every mistake that a spec's parts declare must be found.

A wrong choice is an edit of the IR, rendered and compared with golden of the right one; wrong code
is an edit of the finished file.
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
from specc.verify import quiet_torch
from specc.verify.checks import ALL, COMPILING
from specc.verify.checks.check import Check, run_check
from specc.verify.loading import LoadError, loaded
from specc.verify.mutants.code import CODE_MUTANTS
from specc.verify.mutants.mutant import Reason
from specc.verify.mutants.registry import MUTANTS
from specc.verify.report import CheckResult, Status
from specc.verify.subject import Known, Subject

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
    """`by` is the check that noticed, `margin` its difference / limit, `reason` the evidence."""

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
    known = Known()
    with quiet_torch():
        return tuple(_tried(attempt, model, known) for attempt in _attempts(model, text))


@dataclass(frozen=True)
class _Attempt:
    name: str
    text: str | None  # None: the edit does not change the file
    harmless: Reason


def _attempts(model: Model, text: str) -> Iterator[_Attempt]:
    kinds = {type(part).__name__ for part in walk(model.stacks + model.heads)}
    right = render(model)
    for kind, mutants in MUTANTS.items():
        for mutant in mutants if kind in kinds else ():
            edited = mutant.edit(model)
            if edited is not None:
                wrong = render(edited)
                yield _Attempt(mutant.name, None if wrong == right else wrong, mutant.harmless)
    for code in CODE_MUTANTS:
        changed = code.edit(text)
        if changed is not None:
            yield _Attempt(code.name, changed, code.harmless)


def _tried(attempt: _Attempt, model: Model, known: Known) -> MutantResult:
    name = attempt.name
    if attempt.text is None:
        return MutantResult(name, Fate.SURVIVED, None, None, "the file does not show the choice")
    killer = _first_failure(model, attempt.text, known)
    if killer is not None:
        return MutantResult(name, Fate.KILLED, killer.name, killer.margin, killer.evidence)
    reason = attempt.harmless(model)
    if reason is not None:
        return MutantResult(name, Fate.EQUIVALENT, None, None, reason)
    return MutantResult(name, Fate.SURVIVED, None, None, "no check noticed")


def _first_failure(model: Model, text: str, known: Known) -> CheckResult | None:
    try:
        with loaded(text, model.name) as file:
            subject = Subject(model, file, known=known)
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
