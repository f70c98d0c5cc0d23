"""Lines of generated files that no check runs: each is dead, or a check is missing."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from types import CodeType, FrameType
from typing import Any

from specc.pipeline import compile_fully
from specc.verify import ALL, COMPILING, verify_text
from tests.prove.tables import PUBLISHED, SMALL, for_each, say, spec_file, table, timed, write

FILE = "<specc_verified_"  # how `specc.verify.loading` calls the files that it runs
CHECKS = [check.name for check in ALL if check.name not in COMPILING]


def main() -> int:
    """Run the checks of every spec; 1 when a line stays unrun."""
    names = (*PUBLISHED, *SMALL)
    found = for_each(_one, names)
    rows = [
        (name, lines, runnable, raising, len(unrun), round(seconds))
        for name, ((lines, runnable, raising, unrun), seconds) in zip(names, found, strict=True)
    ]
    left = [
        (name, number, text)
        for name, ((_, _, _, unrun), _) in zip(names, found, strict=True)
        for number, text in unrun
    ]
    write(
        "unrun_lines.md",
        "# Lines of each generated file, and those that no check runs",
        "Written by `make prove`. Lines inside functions that Python can stop at; those that only"
        " raise an error are counted apart. The checks are those of `specc verify` but for"
        " compile and export.",
        table(("file", "lines", "in functions", "raising", "unrun", "seconds"), rows),
        table(("file", "line", "unrun"), left) if left else "Every line is run.",
    )
    for name, number, text in left:
        say(f"{name}:{number}: {text}")
    say(f"{sum(row[2] for row in rows)} lines in functions, {len(left)} of them unrun")
    return 1 if left else 0


def _one(name: str) -> tuple[tuple[int, int, int, list[tuple[int, str]]], float]:
    return timed(lambda: unrun(name))


def unrun(name: str) -> tuple[int, int, int, list[tuple[int, str]]]:
    """How many lines the file has, how many run, how many only raise, and which stay unrun."""
    compilation = compile_fully(spec_file(name))
    text = compilation.artifact.text
    seen: set[int] = set()
    sys.settrace(_watching(seen))
    try:
        report = verify_text(compilation.model, text, name, only=CHECKS)
    finally:
        sys.settrace(None)
    if not report.passed:
        raise ValueError(f"{name} fails: {report.failures}")
    raising = set(_raising(ast.parse(text)))
    runnable = set(_runnable(text)) - raising
    source = text.splitlines()
    left = [(number, source[number - 1].strip()) for number in sorted(runnable - seen)]
    return len(source), len(runnable), len(raising), left


def _watching(seen: set[int]) -> Any:
    """A trace function that notes the lines of the files under test, and of nothing else."""

    def inside(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            seen.add(frame.f_lineno)
        return inside

    def outside(frame: FrameType, event: str, _: object) -> Any:
        return inside if frame.f_code.co_filename.startswith(FILE) else None

    return outside


def _runnable(text: str) -> Iterator[int]:
    """The lines inside functions at which Python can stop."""
    waiting: list[CodeType] = [compile(text, "file", "exec")]
    while waiting:
        code = waiting.pop()
        waiting += [const for const in code.co_consts if isinstance(const, CodeType)]
        if code.co_flags & 0x2:  # optimised locals: a function, not a module or a class
            first = code.co_firstlineno
            yield from (n for _, _, n in code.co_lines() if n is not None and n > first)


def _raising(tree: ast.AST) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


if __name__ == "__main__":
    sys.exit(main())
