"""Moves of numbers inside tensors, each with its inverse and what it does to shapes.

A step works on a list of tensors, at the place `at`: Split makes several of one, Join one of
several, the others change one. Steps after each other turn published tensors into ours; their
inverses in reverse order turn ours into published ones. `after` raises ValueError where shapes do
not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum

from specc.ir.positions import RotarySlice

Shape = tuple[int, ...]


class Arrangement(Enum):
    """In which order the rows of several maps lie in one published tensor."""

    BLOCKS = "blocks"  # all of the first, then all of the second, ...
    PER_HEAD = "per_head"  # head by head: its queries, its keys, its values
    PER_GROUP = "per_group"  # by key head: the queries that read it, its keys, its values
    INTERLEAVED = "interleaved"  # a row of the first, a row of the second, ...


@dataclass(frozen=True)
class Named:
    """A tensor that is spoken of."""

    name: str
    shape: Shape


@dataclass(frozen=True)
class Transpose:
    """The last two axes change places."""

    at: int
    takes = 1

    def after(self, shapes: list[Shape]) -> list[Shape]:
        *rest, rows, columns = shapes[0]
        return [(*rest, columns, rows)]

    @property
    def inverse(self) -> Step:
        return self


@dataclass(frozen=True)
class Split:
    """One tensor into several along `axis`: `times` times, `sizes[0]` rows of the first, then
    `sizes[1]` of the second, and so on. `order` is the name of that.
    """

    at: int
    axis: int
    times: int
    sizes: tuple[int, ...]
    order: Arrangement = Arrangement.BLOCKS
    takes = 1

    def after(self, shapes: list[Shape]) -> list[Shape]:
        if shapes[0][self.axis] != self.times * sum(self.sizes):
            raise ValueError(f"{shapes[0]} is not {self.times} x {self.sizes} on axis {self.axis}")
        return [_resized(shapes[0], self.axis, self.times * size) for size in self.sizes]

    @property
    def inverse(self) -> Step:
        return Join(self.at, self.axis, self.times, self.sizes, self.order)


@dataclass(frozen=True)
class Join:
    """The inverse of Split: several tensors into one."""

    at: int
    axis: int
    times: int
    sizes: tuple[int, ...]
    order: Arrangement = Arrangement.BLOCKS

    @property
    def takes(self) -> int:
        return len(self.sizes)

    def after(self, shapes: list[Shape]) -> list[Shape]:
        rows = [shape[self.axis] for shape in shapes]
        if rows != [self.times * size for size in self.sizes]:
            raise ValueError(f"{shapes} are not {self.times} x {self.sizes} on axis {self.axis}")
        return [_resized(shapes[0], self.axis, sum(rows))]

    @property
    def inverse(self) -> Step:
        return Split(self.at, self.axis, self.times, self.sizes, self.order)


@dataclass(frozen=True)
class Stack:
    """`takes` tensors become one with a new first axis."""

    at: int
    takes: int

    def after(self, shapes: list[Shape]) -> list[Shape]:
        if len(set(shapes)) != 1:
            raise ValueError(f"{sorted(set(shapes))} do not stack")
        return [(self.takes, *shapes[0])]

    @property
    def inverse(self) -> Step:
        return Unstack(self.at, self.takes)


@dataclass(frozen=True)
class Unstack:
    """The inverse of Stack."""

    at: int
    count: int
    takes = 1

    def after(self, shapes: list[Shape]) -> list[Shape]:
        if shapes[0][0] != self.count:
            raise ValueError(f"{shapes[0]} is no stack of {self.count}")
        return [shapes[0][1:]] * self.count

    @property
    def inverse(self) -> Step:
        return Stack(self.at, self.count)


@dataclass(frozen=True)
class TurnPairs:
    """Rows of rotary features in the order of another pairing: pairs (2i, 2i + 1) become
    (i, i + half), or back.

    `axis` holds heads of `width` features, of which the first or last `turned` are rotary.
    """

    at: int
    axis: int
    width: int
    turned: int
    slice: RotarySlice
    to_half: bool
    takes = 1

    def after(self, shapes: list[Shape]) -> list[Shape]:
        if shapes[0][self.axis] % self.width:
            raise ValueError(f"{shapes[0]} has no heads of {self.width} on axis {self.axis}")
        return shapes

    @property
    def inverse(self) -> Step:
        return replace(self, to_half=not self.to_half)

    def order(self, length: int) -> tuple[int, ...]:
        """Which old row each of `length` new rows is."""
        half = self.turned // 2
        if self.to_half:
            pairs = [2 * i for i in range(half)] + [2 * i + 1 for i in range(half)]
        else:
            pairs = [row for i in range(half) for row in (i, i + half)]
        start = 0 if self.slice is RotarySlice.FIRST else self.width - self.turned
        head = list(range(self.width))
        head[start : start + self.turned] = [start + row for row in pairs]
        return tuple(first + row for first in range(0, length, self.width) for row in head)


@dataclass(frozen=True)
class Offset:
    """`value` is added to every number."""

    at: int
    value: float
    takes = 1

    def after(self, shapes: list[Shape]) -> list[Shape]:
        return shapes

    @property
    def inverse(self) -> Step:
        return Offset(self.at, -self.value)


@dataclass(frozen=True)
class CutRows:
    """The first `count` rows are left out."""

    at: int
    count: int
    takes = 1

    def after(self, shapes: list[Shape]) -> list[Shape]:
        return [_resized(shapes[0], 0, shapes[0][0] - self.count)]

    @property
    def inverse(self) -> Step:
        return PadRows(self.at, self.count)


@dataclass(frozen=True)
class PadRows:
    """The inverse of CutRows, with zeros."""

    at: int
    count: int
    takes = 1

    def after(self, shapes: list[Shape]) -> list[Shape]:
        return [_resized(shapes[0], 0, shapes[0][0] + self.count)]

    @property
    def inverse(self) -> Step:
        return CutRows(self.at, self.count)


Step = Transpose | Split | Join | Stack | Unstack | TurnPairs | Offset | CutRows | PadRows


def inverses(steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps that undo all of these."""
    return tuple(step.inverse for step in reversed(steps))


def loses(step: Step) -> bool:
    """Whether the way there and back does not give the same bytes."""
    return isinstance(step, Offset | CutRows)


def shapes_after(steps: Sequence[Step], shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """The shapes that tensors of these shapes have after the steps. ValueError: they do not fit."""
    found = list(shapes)
    for step in steps:
        found[step.at : step.at + step.takes] = step.after(found[step.at : step.at + step.takes])
    return tuple(found)


def _resized(shape: Shape, axis: int, length: int) -> Shape:
    return (*shape[:axis], length, *shape[axis + 1 :])
