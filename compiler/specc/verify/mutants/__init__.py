"""Proves that the checks notice: every mistake that a spec's parts declare must be found.

A wrong choice is an edit of the IR, rendered and compared with golden of the right one; wrong code
is an edit of the finished file. Faults that both sides would share are edits of lowering: numbers
from outside find them (`tests/prove/lowering.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from enum import Enum
from functools import partial
from itertools import chain, islice, zip_longest
from multiprocessing import get_context
from pathlib import Path

import torch

from specc.ir.model import Model
from specc.ir.walk import walk
from specc.pipeline import compile_fully
from specc.render import render
from specc.verify import quiet_torch
from specc.verify.checks import ALL, COMPILING
from specc.verify.checks.check import Check, run_check
from specc.verify.loading import LoadError, loaded
from specc.verify.mutants.code import CODE_MUTANTS
from specc.verify.mutants.equivalence import refuted
from specc.verify.mutants.mutant import Reason
from specc.verify.mutants.registry import MUTANTS
from specc.verify.report import CheckResult, Status
from specc.verify.subject import Known, Subject

__all__ = [
    "CODE_MUTANTS",
    "MUTANTS",
    "Attempt",
    "Fate",
    "MutantReport",
    "MutantResult",
    "attempts",
    "control",
    "run_mutants",
    "try_mutants",
]

# First: what is cheap and notices most. Last: what is dear, and the numbers of Config, which would
# hide what other checks see.
EARLY = (
    "imports",
    "state_dict",
    "forward_float64",
    "init_statistics",
    "norm_casts",
    "eval_determinism",
    "input_errors",
    "cache",
    "generation",
)
LATE = ("ties", "config", "parameter_count", "shape_comments", "overfit")

Wanted = Callable[[str], bool]


class Fate(Enum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"


@dataclass(frozen=True)
class MutantResult:
    """`by` is the check that noticed, `reason` its evidence, or why none could notice.

    `margin` is difference / tolerance of a check of numbers, `share` the share of differing
    elements of a check of bits; a check that answers yes or no has neither.
    """

    name: str
    status: Fate
    by: str | None
    margin: float | None
    reason: str
    share: float | None = None

    def to_dict(self) -> dict[str, str | float | None]:
        """The form that `--format json` prints."""
        return {
            "name": self.name,
            "status": self.status.value,
            "by": self.by,
            "margin": self.share if self.margin is None else self.margin,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class MutantReport:
    """All mutants of one spec, in the order in which they were tried.

    `fault` is the check that the unbroken file fails: then no mutant proves anything.
    """

    spec: str
    mutants: tuple[MutantResult, ...]
    fault: CheckResult | None = None

    @property
    def passed(self) -> bool:
        """Whether the right file passes and no wrong one does."""
        return self.fault is None and not self.of(Fate.SURVIVED)

    def of(self, status: Fate) -> tuple[MutantResult, ...]:
        """The mutants that ended so."""
        return tuple(mutant for mutant in self.mutants if mutant.status is status)

    @property
    def smallest_margin(self) -> float | None:
        """Of the mutants that a check of numbers killed."""
        return min((m.margin for m in self.mutants if m.margin is not None), default=None)

    def to_dict(self) -> dict[str, object]:
        """The form that `--format json` prints."""
        mutants = [mutant.to_dict() for mutant in self.mutants]
        told: dict[str, object] = {"spec": self.spec, "mutants": mutants}
        return told if self.fault is None else {**told, "fault": self.fault.to_dict()}


@dataclass(frozen=True)
class Attempt:
    """A mutant of one model: the wrong file, and the wrong IR where there is one."""

    name: str
    text: str | None  # None: the edit does not change the file
    model: Model | None
    harmless: Reason


def run_mutants(path: str | Path, jobs: int = 1) -> MutantReport:
    """Make and try every mutant of the spec at `path`, by so many processes.

    Raises SpecError and OSError.
    """
    compilation = compile_fully(path)
    model, text = compilation.model, compilation.artifact.text
    if jobs == 1:
        fault = control(model, text)
        return MutantReport(str(path), () if fault else try_mutants(model, text), fault)
    with ProcessPoolExecutor(jobs, get_context("spawn"), torch.set_num_threads, (1,)) as pool:
        faults = pool.map(partial(_fault, model), (text, render(model)))
        fault = next((found for found in faults if found is not None), None)
        if fault is not None:
            return MutantReport(str(path), (), fault)
        shares = pool.map(partial(_share, model, text, jobs), range(jobs))
        in_turn = chain.from_iterable(zip_longest(*shares))
        return MutantReport(str(path), tuple(m for m in in_turn if m is not None))


def _share(model: Model, text: str, jobs: int, number: int) -> tuple[MutantResult, ...]:
    """What one of several processes tries: every so manieth mutant."""
    known = Known()
    with quiet_torch():
        mine = islice(attempts(model, text), number, None, jobs)
        return tuple(_tried(attempt, model, known) for attempt in mine)


def control(model: Model, text: str) -> CheckResult | None:
    """The check that the unbroken file fails, finished or as mutants are rendered; None if none."""
    known = Known()
    return _fault(model, text, known) or _fault(model, render(model), known)


def _fault(model: Model, text: str, known: Known | None = None) -> CheckResult | None:
    with quiet_torch():
        return _first_failure(model, text, known or Known())


def try_mutants(
    model: Model, text: str, only: Collection[str] | None = None
) -> tuple[MutantResult, ...]:
    """Every mutant of a model and its finished file; `only` names the ones to try."""
    known = Known()
    with quiet_torch():
        return tuple(_tried(attempt, model, known) for attempt in attempts(model, text, only))


def attempts(model: Model, text: str, only: Collection[str] | None = None) -> Iterator[Attempt]:
    """Every mutant of the model, or those that are named."""
    kinds = {type(part).__name__ for part in walk(model.stacks + model.heads)}
    right = render(model)
    for mutant in (m for kind, found in MUTANTS.items() if kind in kinds for m in found):
        edited = mutant.edit(model) if only is None or mutant.name in only else None
        if edited is not None:
            wrong = render(edited)
            shown = None if wrong == right else wrong
            yield Attempt(mutant.name, shown, edited, mutant.harmless)
    for code in CODE_MUTANTS:
        if (only is None or code.name in only) and code.needs(model):
            changed = code.edit(text)
            if changed is not None and changed != text:
                yield Attempt(code.name, changed, None, code.harmless)


def _tried(attempt: Attempt, model: Model, known: Known) -> MutantResult:
    name = attempt.name
    if attempt.text is None:
        return MutantResult(name, Fate.SURVIVED, None, None, "the file does not show the choice")
    killer = _first_failure(model, attempt.text, known)
    if killer is not None:
        return MutantResult(
            name, Fate.KILLED, killer.name, killer.margin, killer.evidence, killer.share
        )
    reason = attempt.harmless(model)
    if reason is None:
        return MutantResult(name, Fate.SURVIVED, None, None, "no check noticed")
    doubt = refuted(model, attempt.text, attempt.model, known)
    if doubt is not None:
        return MutantResult(name, Fate.SURVIVED, None, None, f"said to be equivalent, but {doubt}")
    return MutantResult(name, Fate.EQUIVALENT, None, None, reason)


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
    known = {check.name: check for check in ALL}
    rest = [n for n in known if n not in (*EARLY, *LATE, *COMPILING)]
    return tuple(known[name] for name in (*EARLY, *rest, *LATE))
