"""Makes a failing spec as small as it can be: leaves out one thing after the other for as long as
it fails in the same way. What Hypothesis leaves when its time is up, this ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy

from specc.verify.random_specs.yaml_text import Tree, Value

Path = tuple[str | int, ...]


def pruned(tree: Tree, still_fails: Callable[[Tree], bool]) -> Tree:
    """A smallest part of the tree that still fails: nothing more can be left out."""
    left = True
    while left:
        left = False
        for path in list(_paths(tree)):
            smaller = without(tree, path)
            if smaller != tree and still_fails(smaller):
                tree, left = smaller, True
    return tree


def _paths(value: Value) -> Iterator[Path]:
    """Every key and list item, what holds others before what it holds."""
    match value:
        case dict():
            steps: list[tuple[str | int, Value]] = list(value.items())
        case list():
            steps = list(reversed(list(enumerate(value))))
        case _:
            steps = []
    for step, inner in steps:
        yield (step,)
        yield from ((step, *rest) for rest in _paths(inner))


def without(tree: Tree, path: Path) -> Tree:
    """A copy without what stands at the path; as it was where nothing does."""
    found = deepcopy(tree)
    place: Value = found
    for step in path[:-1]:
        place = _inside(place, step)
    match place, path[-1]:
        case dict(), str() as key:
            place.pop(key, None)
        case list(), int() as index if index < len(place):
            del place[index]
        case _:
            pass
    return found


def _inside(place: Value, step: str | int) -> Value:
    inner: Value = None
    if isinstance(place, dict):
        inner = place.get(str(step))
    elif isinstance(place, list) and isinstance(step, int) and step < len(place):
        inner = place[step]
    return inner
