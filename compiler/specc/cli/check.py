"""`specc check`: what a build would change. Changed, missing and orphan files all count."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from pathlib import Path

from specc.cli.compiling import compile_all, plan_for
from specc.cli.failure import Code, Failure
from specc.cli.out import is_colourful, paint_diff, say
from specc.cli.sources import Stdout, select
from specc.cli.vendoring import artifacts
from specc.emit import Entry, State, stamp


def check(
    arguments: Sequence[Path],
    output: str | None,
    *,
    strict: bool,
    with_tests: bool = False,
    with_loader: bool = False,
) -> Code:
    """Print the drift; `Code.DRIFT` when there is any. Raises `Failure`."""
    selection = select(arguments, output)
    if isinstance(selection.target, Stdout):
        raise Failure("check compares with files: -o - makes no sense here")
    with_loader = with_loader or selection.wants_loader
    compilations = compile_all(selection.specs, strict=strict, with_loader=with_loader)
    with_tests = with_tests or selection.wants_tests
    files = artifacts(compilations, selection.target, with_tests=with_tests)
    plan = plan_for(files, selection.target, orphans=selection.is_whole)
    colourful = is_colourful(sys.stdout)
    for entry in plan.drift:
        say(f"{entry.state.value}: {entry.file}{_remark(entry)}")
        for line in _diff(entry):
            say(paint_diff(line) if colourful else line)
    if not plan.drift:
        say(f"{len(plan.entries)} files are as their specs say")
        return Code.FINE
    say(f"{len(plan.drift)} of {len(plan.entries)} files are not as the specs say")
    return Code.DRIFT


def _remark(entry: Entry) -> str:
    if entry.state is not State.ORPHAN:
        return ""
    is_test = entry.file.name.startswith("test_") and stamp(entry.old or "") is not None
    hint = "; with [tool.specc] tests = true one may" if is_test else ""
    return f" (no spec gives this file{hint})"


def _diff(entry: Entry) -> Iterator[str]:
    """From the file as it is to the file as a build would write it."""
    if entry.old is None or entry.new is None:
        return
    old, new = entry.old.splitlines(), entry.new.splitlines()
    names = (str(entry.file), f"{entry.file} (as its spec says)")
    yield from unified_diff(old, new, *names, lineterm="")
