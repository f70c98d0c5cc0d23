"""Where a problem of a layer type stands: in the base part if all share it, else in its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from specc.diagnostics import Diagnostic, SpecPath
from specc.spec import schema


@dataclass(frozen=True)
class Problem:
    """A broken rule; `path` is relative to the layer type in which it was found."""

    path: SpecPath
    message: str
    hint: str | None = None


@dataclass(frozen=True)
class Place:
    """One layer type of one stack."""

    spec: schema.Spec
    stack: str
    name: str
    layer: schema.Layer

    def has(self, part: str | int) -> bool:
        """Whether a problem under that key can concern this layer type at all."""
        sublayers: tuple[str, ...] = self.layer.block.sublayers
        return part not in ("attention", "cross_attention", "feed_forward") or part in sublayers


LayerRule = Callable[[Place], Iterable[Problem]]


def places(spec: schema.Spec) -> tuple[Place, ...]:
    """Every layer type of the spec."""
    return tuple(
        Place(spec, stack.name, name, layer)
        for stack in spec.stacks
        for name, layer in stack.types.items()
    )


def layer_diagnostics(spec: schema.Spec, rules: Iterable[LayerRule]) -> Iterator[Diagnostic]:
    """What the rules find in the layer types: each problem once, at the widest place it fills."""
    everywhere = places(spec)
    found: dict[Problem, list[Place]] = {}
    for rule in rules:
        for place in everywhere:
            for problem in rule(place):
                found.setdefault(problem, []).append(place)
    for problem, where in found.items():
        for prefix in _prefixes(spec, problem, where, everywhere):
            yield Diagnostic((*prefix, *problem.path), problem.message, problem.hint)


def _prefixes(
    spec: schema.Spec, problem: Problem, where: list[Place], everywhere: tuple[Place, ...]
) -> Iterator[SpecPath]:
    concerned = [place for place in everywhere if place.has(problem.path[0])]
    if set(map(_key, concerned)) <= set(map(_key, where)):
        yield ()
        return
    for stack in spec.stacks:
        prefix: SpecPath = (stack.name,) if len(spec.stacks) > 1 else ()
        here = [place for place in where if place.stack == stack.name]
        if here and len(here) == sum(place.stack == stack.name for place in concerned):
            yield prefix
        else:
            for place in here:
                yield (*prefix, "layers", "types", place.name)


def _key(place: Place) -> tuple[str, str]:
    return place.stack, place.name
