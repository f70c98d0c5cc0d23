"""A spec as a tree of frozen nodes that remember where they stand and where they came from.

Every later step (style, merging, defaults) makes new trees of the same nodes, so that an error or
an explanation about any value can point at the line that caused it. The tree knows no field of the
language.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from specc.diagnostics import Position, SpecPath

Origin = Literal["body", "style", "default", "derived"]
Plain = str | int | float | bool | None


@dataclass(frozen=True)
class Mark:
    """Where a node stands in the file, who set it, and at which path a person writes it."""

    position: Position | None
    origin: Origin
    written: SpecPath

    def below(self, step: str | int) -> Mark:
        """The mark of something inside that was not written apart."""
        return replace(self, written=(*self.written, step))

    def filled(self, step: str, origin: Origin) -> Mark:
        """The mark of a value that was filled in here."""
        return Mark(None, origin, (*self.written, step))


@dataclass(frozen=True)
class Scalar:
    """A word, number, truth value or null. `text` is how it was written."""

    value: Plain
    mark: Mark
    text: str = ""
    quoted: bool = False


@dataclass(frozen=True)
class Sequence:
    """A list."""

    items: tuple[Node, ...]
    mark: Mark


@dataclass(frozen=True)
class Entry:
    """One line of a mapping; `position` is its key's."""

    key: str
    value: Node
    position: Position | None


@dataclass(frozen=True)
class Mapping:
    """Keys and values, in order."""

    entries: tuple[Entry, ...]
    mark: Mark

    def get(self, key: str) -> Node | None:
        """The value at that key, or None where there is none."""
        return next((entry.value for entry in self.entries if entry.key == key), None)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys, in order."""
        return tuple(entry.key for entry in self.entries)

    def put(self, key: str, value: Node) -> Mapping:
        """The same mapping with that key set: in its place, or at the end."""
        if key not in self.keys:
            return replace(self, entries=(*self.entries, Entry(key, value, None)))
        entries = tuple(
            replace(entry, value=value) if entry.key == key else entry for entry in self.entries
        )
        return replace(self, entries=entries)

    def without(self, *keys: str) -> Mapping:
        """The same mapping without those keys."""
        return replace(self, entries=tuple(e for e in self.entries if e.key not in keys))

    def mapping(self, key: str) -> Mapping:
        """The mapping at that key; an empty one, with no place of its own, where there is none."""
        found = self.get(key)
        return (
            found if isinstance(found, Mapping) else Mapping((), self.mark.filled(key, "default"))
        )

    def word(self, key: str) -> str | None:
        """The text at that key, if it is one."""
        found = self.get(key)
        return found.value if isinstance(found, Scalar) and isinstance(found.value, str) else None


Node = Scalar | Sequence | Mapping


def is_null(node: Node | None) -> bool:
    """Is it a null that somebody wrote, or that stands for a part that is absent?"""
    return isinstance(node, Scalar) and node.value is None


def grow(value: object, mark: Mark) -> Node:
    """A tree of plain dicts, lists and scalars as nodes that all share one place and origin."""
    if isinstance(value, dict):
        entries = (Entry(key, grow(each, mark.below(key)), None) for key, each in value.items())
        return Mapping(tuple(entries), mark)
    if isinstance(value, list | tuple):
        items = (grow(each, mark.below(i)) for i, each in enumerate(value))
        return Sequence(tuple(items), mark)
    if value is None or isinstance(value, str | int | float | bool):
        return Scalar(value, mark, str(value))
    raise TypeError(f"no node for {value!r}")


def plain(node: Node) -> object:
    """The tree as dicts, tuples and scalars."""
    if isinstance(node, Mapping):
        return {entry.key: plain(entry.value) for entry in node.entries}
    if isinstance(node, Sequence):
        return tuple(plain(item) for item in node.items)
    return node.value


def descend(node: Node, path: SpecPath) -> Iterator[Node]:
    """The nodes along a path, `node` first; steps that match nothing (union tags) are skipped."""
    yield node
    for step in path:
        found = child(node, step)
        if found is not None:
            node = found
            yield node


def child(node: Node, step: str | int) -> Node | None:
    """The node one step down, or None."""
    if isinstance(node, Mapping) and isinstance(step, str):
        return node.get(step)
    if isinstance(node, Sequence) and isinstance(step, int) and 0 <= step < len(node.items):
        return node.items[step]
    return None


def at(node: Node, path: SpecPath) -> Node | None:
    """The node at exactly that path, or None."""
    found: Node | None = node
    for step in path:
        found = child(found, step) if found is not None else None
    return found


def leaves(node: Node) -> Iterator[tuple[SpecPath, Scalar | Sequence]]:
    """Every scalar, and every sequence that holds scalars only, with its path, in order."""
    if isinstance(node, Mapping):
        for entry in node.entries:
            for path, leaf in leaves(entry.value):
                yield (entry.key, *path), leaf
    elif isinstance(node, Sequence) and any(not isinstance(item, Scalar) for item in node.items):
        for i, item in enumerate(node.items):
            for path, leaf in leaves(item):
                yield (i, *path), leaf
    else:
        yield (), node
