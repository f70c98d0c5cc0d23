"""The check that executes shape comments; how, and what a letter may be, says `verify.shapes`."""

from __future__ import annotations

from dataclasses import dataclass

from specc.verify.checks.check import Check, counted
from specc.verify.report import Outcome, failed, passed
from specc.verify.shapes import LoadError, UncallableError, examine
from specc.verify.subject import Subject


@dataclass(frozen=True)
class ShapeComments(Check):
    """Every shape comment says what runs of different sizes show, and no letter is undeclared."""

    name: str = "shape_comments"

    def run(self, subject: Subject) -> Outcome:
        """Instrument a copy of the file, and run it with and without cache and padding."""
        try:
            observed = examine(subject.file.text)
        except (LoadError, UncallableError) as error:
            return failed(str(error))
        if observed.lies:
            return failed(f"{counted(len(observed.lies), 'lie')}; the first: {observed.lies[0]}")
        return passed(f"{counted(observed.count, 'shape comment')} as executed")
