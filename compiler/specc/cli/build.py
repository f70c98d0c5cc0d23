"""`specc build`: compile, then write what is missing or changed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from specc.cli.compiling import compile_all, plan_for
from specc.cli.failure import Code, Failure
from specc.cli.out import say, say_bytes
from specc.cli.sources import Stdout, select
from specc.cli.vendoring import artifacts
from specc.emit import EmitError, write


def build(
    arguments: Sequence[Path],
    output: str | None,
    *,
    force: bool,
    strict: bool,
    with_tests: bool = False,
    with_loader: bool = False,
) -> Code:
    """Write the files of these specs. Raises `Failure`, and then nothing was written."""
    selection = select(arguments, output)
    if isinstance(selection.target, Stdout) and with_tests:
        raise Failure("-o - prints one file: --with-tests writes two")
    with_loader = with_loader or selection.wants_loader
    compilations = compile_all(selection.specs, strict=strict, with_loader=with_loader)
    if isinstance(selection.target, Stdout):
        say_bytes(compilations[0].artifact.text)
        return Code.FINE
    with_tests = with_tests or selection.wants_tests
    files = artifacts(compilations, selection.target, with_tests=with_tests)
    plan = plan_for(files, selection.target, orphans=False)
    try:
        written = write(plan, force=force)
    except EmitError as error:
        raise Failure(str(error)) from error
    for entry in plan.entries:
        say(f"{'wrote' if entry in written else 'as it was:'} {entry.file}")
    return Code.FINE
