"""A spec as pytest sees it: one item a check, whose failure message is the check's evidence.

The file under test is the one that the project keeps, where there is one, else a fresh build. It is
loaded once a process, when its first item runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from specc.diagnostics import SpecError
from specc.ir.model import Model
from specc.pipeline import compile_fully, read_model
from specc.project import ProjectError, find_project
from specc.verify import ALL, quiet_torch
from specc.verify.checks.check import Check, run_check
from specc.verify.loading import LoadError, loaded
from specc.verify.report import Status
from specc.verify.subject import Subject

# What a spec, or the file that it is kept as, may say instead of an answer.
UNREADABLE = (SpecError, ProjectError, LoadError, OSError)


class RefutedSpec(Exception):
    """A check failed. The text is all that pytest prints."""


SPEAKING = (RefutedSpec, *UNREADABLE)  # their text is evidence, where they were raised is none


class SpecFile(pytest.File):
    """All checks of one spec."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item a check; for a spec that means nothing, one that says why."""
        try:
            read_model(self.path)
        except UNREADABLE as error:
            yield BrokenSpec.from_parent(self, name="spec", reason=str(error))
            return
        if self.kept is not None:
            yield UpToDate.from_parent(self, name="up_to_date")
        for check in ALL:
            yield CheckItem.from_parent(self, name=check.name, check=check)

    @cached_property
    def kept(self) -> Path | None:
        """The file in the project's output folder, if it is there."""
        project = find_project(self.path.parent)
        if project is None:
            return None
        file = project.output / f"{self.model.name}.py"
        return file if file.is_file() else None

    @cached_property
    def model(self) -> Model:
        """The spec as IR."""
        return read_model(self.path)

    @cached_property
    def built(self) -> str:
        """The file as the spec says it."""
        return compile_fully(self.path).artifact.text

    @cached_property
    def text(self) -> str:
        """The file under test."""
        if self.kept is None:
            return self.built
        return self.kept.read_bytes().decode("utf-8", "surrogateescape")

    @cached_property
    def subject(self) -> Subject:
        """The file under test as a module that lives as long as the session. Raises LoadError."""
        stack = ExitStack()
        self.config.add_cleanup(stack.close)
        return Subject(self.model, stack.enter_context(loaded(self.text, self.model.name)))

    @property
    def label(self) -> str:
        """What is under test, for a person."""
        return f"{self.path.name}: " if self.kept is None else f"{self.kept.name}: "


class SpecItem(pytest.Item):
    """One claim about a spec."""

    file: SpecFile

    def __init__(self, **given: Any) -> None:  # noqa: ANN401  # what pytest hands to every node
        super().__init__(**given)
        if not isinstance(self.parent, SpecFile):
            raise TypeError("the items of a spec belong to it")
        self.file = self.parent

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the claim stands: in the spec, not in a line of Python."""
        return self.path, 0, f"{self.path.stem}: {self.name}"

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], **_: Any) -> str:  # type: ignore[override]  # noqa: ANN401
        """The evidence alone; the traceback only of a fault in specc itself."""
        if isinstance(excinfo.value, SPEAKING):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))


class BrokenSpec(SpecItem):
    """A spec that does not compile."""

    def __init__(self, *, reason: str, **given: Any) -> None:  # noqa: ANN401
        super().__init__(**given)
        self.reason = reason

    def runtest(self) -> None:
        raise RefutedSpec(self.reason)


class UpToDate(SpecItem):
    """The file that the project keeps is the one that its spec says."""

    def runtest(self) -> None:
        kept = self.file.text.replace("\r\n", "\n").split("\n")
        wanted = self.file.built.split("\n")
        pairs = list(zip_longest(kept, wanted, fillvalue="(nothing)"))
        first, rest = (0, pairs[0]), enumerate(pairs[1:], 1)
        for i, (found, line) in (*rest, first):  # the digests of the first line tell least
            if found != line:
                raise RefutedSpec(
                    f"{self.file.label}line {i + 1} is not as {self.file.path.name} says"
                    f" (specc build writes it anew)\n- {found}\n+ {line}"
                )


class CheckItem(SpecItem):
    """One check of `specc verify`."""

    def __init__(self, *, check: Check, **given: Any) -> None:  # noqa: ANN401
        super().__init__(**given)
        self.check = check

    def runtest(self) -> None:
        with quiet_torch():
            result = run_check(self.check, self.file.subject)
        if result.status is Status.FAIL:
            raise RefutedSpec(f"{self.file.label}{result.evidence}\n{result.proves}")
        if result.status is Status.NOT_APPLICABLE:
            pytest.skip(result.evidence)
