"""Which `Config` field a number is: equal numbers of one base name share it, others get a suffix.

A number asks for its name while the IR is built; only when all have asked is it known which names
need a suffix. So lowering builds twice: the first pass is heard (`Names.heard`), `settle` decides,
the second is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

from specc.diagnostics import dotted

RelativePath = tuple[str | int, ...]


@dataclass(frozen=True)
class Scope:
    """Whose number it is: a stack's, a layer type's, within it a part's ("" for the main one)."""

    stack: str = ""
    layer_type: str = ""
    part: str = ""


@dataclass(frozen=True)
class Request:
    """One number asking for its name; it takes that of `share_with` if all of both agree."""

    base: str
    value: Hashable
    scope: Scope
    path: RelativePath
    share_with: str | None = None


Settled = Mapping[tuple[str, Scope], str]


class Names:
    """Answers requests with settled names (base names while nothing is settled); keeps them all."""

    def __init__(self, settled: Settled | None = None) -> None:
        self._settled = dict(settled or {})
        self.heard: list[Request] = []

    def ask(self, request: Request) -> str:
        """The name for this number."""
        self.heard.append(request)
        return self._settled.get((request.base, request.scope), request.base)


def settle(heard: Iterable[Request]) -> dict[tuple[str, Scope], str]:
    """A name for every (base, scope)."""
    groups: dict[str, list[Request]] = defaultdict(list)
    for request in heard:
        groups[request.base].append(request)
    settled: dict[tuple[str, Scope], str] = {}
    for base, group in groups.items():
        shared = _shared_name(group, groups)
        for request, name in zip(group, _group_names(base, group), strict=True):
            settled[base, request.scope] = shared or name
    return settled


def _shared_name(group: list[Request], groups: Mapping[str, list[Request]]) -> str | None:
    """The other base's plain name, when every number here asks for it and equals all of its own."""
    others = {request.share_with for request in group}
    if len(others) != 1:
        return None
    other = others.pop()
    if other is None or other not in groups:
        return None
    values = {request.value for request in (*group, *groups[other])}
    return other if len(values) == 1 else None


_SUFFIXES: tuple[Callable[[Scope], tuple[str, ...]], ...] = (
    lambda _: (),
    lambda scope: (scope.layer_type,),
    lambda scope: (scope.stack,),
    lambda scope: (scope.part,),
    lambda scope: (scope.part, scope.layer_type),
    lambda scope: (scope.part, scope.stack),
    lambda scope: (scope.stack, scope.layer_type),
    lambda scope: (scope.part, scope.stack, scope.layer_type),
)


def _group_names(base: str, group: list[Request]) -> list[str]:
    """Names by the shortest suffix that tells values apart, each value named where first met."""
    for suffix in _SUFFIXES:
        values: dict[tuple[str, ...], Hashable] = {}
        if all(values.setdefault(suffix(r.scope), r.value) == r.value for r in group):
            first: dict[Hashable, tuple[str, ...]] = {}
            for request in group:
                first.setdefault(request.value, suffix(request.scope))
            return ["_".join((base, *filter(None, first[r.value]))) for r in group]
    raise ValueError(f"one place holds two numbers called {base}")


def paths_to_names(
    heard: Iterable[Request], settled: Settled, two_stacks: bool
) -> dict[str, str | None]:
    """Schema paths as a person writes them -> the `Config` name there, None for several."""
    found: dict[str, str | None] = {}
    for request in heard:
        if not request.path:
            continue
        name = settled[request.base, request.scope]
        for path in _spellings(request, two_stacks):
            key = dotted(path)
            found[key] = name if found.get(key, name) == name else None
    return found


def _spellings(request: Request, two_stacks: bool) -> Iterable[RelativePath]:
    yield request.path
    yield tuple(step for step in request.path if isinstance(step, str))
    stack: RelativePath = (request.scope.stack,) if two_stacks and request.scope.stack else ()
    if stack:
        yield (*stack, *request.path)
    if request.scope.layer_type:
        yield (*stack, "layers", "types", request.scope.layer_type, *request.path)
