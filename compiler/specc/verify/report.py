"""What a verification says: one result a check, with its evidence, and the whole as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Status(Enum):
    """How a check ended."""

    PASS = "pass"  # noqa: S105  # no password
    FAIL = "fail"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True)
class Outcome:
    """What one check found. `margin` is difference / limit where the check compares numbers,
    `share` the part of all values that differ where it compares bits.
    """

    status: Status
    evidence: str
    margin: float | None = None
    share: float | None = None


def passed(evidence: str) -> Outcome:
    """It holds."""
    return Outcome(Status.PASS, evidence)


def failed(evidence: str, margin: float | None = None) -> Outcome:
    """It does not."""
    return Outcome(Status.FAIL, evidence, margin)


def differs(evidence: str, share: float) -> Outcome:
    """It does not: this share of the values has other bits."""
    return Outcome(Status.FAIL, evidence, None, share)


def not_applicable(reason: str) -> Outcome:
    """The spec has nothing that the check could look at."""
    return Outcome(Status.NOT_APPLICABLE, reason)


@dataclass(frozen=True)
class CheckResult:
    """A check's name beside its outcome; `proves` says in a sentence what a pass means."""

    name: str
    status: Status
    evidence: str
    proves: str
    margin: float | None
    seconds: float
    share: float | None = None

    def to_dict(self) -> dict[str, str]:
        """The form that `--format json` prints."""
        return {"name": self.name, "status": self.status.value, "evidence": self.evidence}


@dataclass(frozen=True)
class Report:
    """All results for one spec, in the order in which they ran."""

    spec: str
    checks: tuple[CheckResult, ...]

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return not self.failures

    @property
    def failures(self) -> tuple[CheckResult, ...]:
        """The failed checks."""
        return tuple(check for check in self.checks if check.status is Status.FAIL)

    def to_dict(self) -> dict[str, object]:
        """The form that `--format json` prints."""
        return {"spec": self.spec, "checks": [check.to_dict() for check in self.checks]}
