"""Rules on layer patterns: every name is known, every type is used."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics import Diagnostic, SpecPath, did_you_mean
from specc.spec import schema


def pattern_diagnostics(spec: schema.Spec) -> Iterator[Diagnostic]:
    """Patterns that name what is not there, or leave out what is."""
    for stack in spec.stacks:
        prefix: SpecPath = (stack.name,) if len(spec.stacks) > 1 else ()
        yield from _pattern(stack, (*prefix, "layers"))


def _pattern(stack: schema.Stack, path: SpecPath) -> Iterator[Diagnostic]:
    if not stack.pattern:
        yield Diagnostic((*path, "pattern"), "a pattern needs at least one name")
    for index, name in enumerate(stack.pattern):
        if name not in stack.types:
            yield Diagnostic(
                (*path, "pattern", index),
                f"no layer type is called {name}",
                did_you_mean(name, stack.types) or f"layers.types has {', '.join(stack.types)}",
            )
    for name in stack.types:
        if name not in stack.pattern:
            yield Diagnostic((*path, "types", name), f"layer type {name} stands in no pattern")
        elif name not in stack.pattern[: stack.n_layers]:
            yield Diagnostic(
                (*path, "types", name),
                f"layer type {name} is never reached: n_layers is {stack.n_layers},"
                f" its first place in the pattern is {stack.pattern.index(name) + 1}",
            )
