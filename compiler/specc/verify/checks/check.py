"""What a check is, and how one is run: an error inside the file under test becomes evidence."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from time import perf_counter

import torch

from specc.verify.calls import RefutedError
from specc.verify.loading import describe
from specc.verify.report import CheckResult, Outcome, failed
from specc.verify.subject import Subject


class Check(ABC):
    """One claim about a generated file: the docstring of a subclass says what a pass proves."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What reports and `only` call it."""

    @property
    def proves(self) -> str:
        """The claim, in a sentence."""
        return inspect.cleandoc(type(self).__doc__ or "")

    @abstractmethod
    def run(self, subject: Subject) -> Outcome:
        """Try to refute the claim. May raise whatever the file raises."""


def result(check: Check, outcome: Outcome, seconds: float = 0.0) -> CheckResult:
    """The outcome under the check's name."""
    return CheckResult(
        check.name,
        outcome.status,
        outcome.evidence,
        check.proves,
        outcome.margin,
        seconds,
        outcome.share,
    )


def run_check(check: Check, subject: Subject) -> CheckResult:
    """Run one check with its own seed; whatever it raises is its evidence."""
    start = perf_counter()
    torch.manual_seed(0)
    try:
        outcome = check.run(subject)
    except RefutedError as refuted:
        outcome = failed(str(refuted))
    except Exception as error:  # noqa: BLE001  # the file under test may raise anything
        outcome = failed(describe(error, str(subject.file.module.__file__)))
    return result(check, outcome, perf_counter() - start)


def counted(number: int, noun: str) -> str:
    """`1 case`, `4 cases`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
