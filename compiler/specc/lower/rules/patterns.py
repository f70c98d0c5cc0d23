"""Rules on layer patterns: every name is known, every type is used, all look at the same things."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics import Diagnostic, SpecPath, did_you_mean, listed
from specc.spec import schema


def pattern_diagnostics(spec: schema.Spec) -> Iterator[Diagnostic]:
    """Patterns that name what is not there, leave out what is, or mix what takes other inputs."""
    for stack in spec.stacks:
        prefix: SpecPath = (stack.name,) if len(spec.stacks) > 1 else ()
        yield from _pattern(stack, (*prefix, "layers"))
        yield from _one_call(stack, (*prefix, "layers", "types"))


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


def _one_call(stack: schema.Stack, path: SpecPath) -> Iterator[Diagnostic]:
    """One loop calls all layers of a stack, so what one takes all must take."""
    first, *others = stack.types
    wanted = _attentions(stack.types[first])
    for name in others:
        found = _attentions(stack.types[name])
        if found != wanted:
            yield Diagnostic(
                (*path, name, "block", "sublayers"),
                f"layer types of one stack must attend to the same things: {name} has"
                f" {listed(found or ['none'], 'and')}, {first} has"
                f" {listed(wanted or ['none'], 'and')}",
            )


def _attentions(layer: schema.Layer) -> list[str]:
    return [k for k in ("attention", "cross_attention") if k in layer.block.sublayers]
