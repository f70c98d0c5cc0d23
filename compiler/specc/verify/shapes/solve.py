"""Whether one call's shapes and its comments fit together: a number for every letter, or where not.

Every letter has one number for the whole call. Alternatives are tried in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from specc.verify.shapes.grammar import Dimension, Reading, Shape, Statement, is_letter
from specc.verify.shapes.legend import WINDOW, Legend, Length, lengths, rooms, values_of
from specc.verify.shapes.places import Place, Scope
from specc.verify.shapes.recorder import Call, Seen

Numbers = Mapping[str, int]
KEY_VALUE = "n_kv_heads"
QUERY = "n_heads"
MATRIX = 2


@dataclass(frozen=True)
class Sizes:
    """What names can mean in one call: by legend, `Config`, the call's own integers, its run."""

    legend: Legend
    config: Mapping[str, int]
    letters: frozenset[str]  # of the whole scope
    is_helper: bool
    call: Call

    def named(self, name: str) -> frozenset[int]:
        """What a size that is written out may be: a parameter, a `Config` field, a cache's capacity
        or the room of one of its layers.
        """
        capacity = self.call.facts.capacity
        numbers = {"capacity": capacity, **self.config, **dict(self.call.integers)}
        if name == "room" and name not in numbers:
            return rooms(self.call.facts, self.config)
        number = numbers.get(name)
        return frozenset() if number is None else frozenset([number])

    def domain(self, name: str) -> frozenset[int] | None:
        """What a letter or name may be; None where any number will do."""
        if not is_letter(name):
            return self.named(name)
        for length in Length:
            if self.legend.is_length(name, length):
                return lengths(length, self.call.facts, values_of(WINDOW, self.config))
        if self.legend.counts_rows(name):
            return self._rows()
        field = self.legend.field(name)
        found = frozenset[int]() if field is None else values_of(field, self.config)
        if field == QUERY and self._serves_all_heads():
            found |= values_of(KEY_VALUE, self.config)
        return found or None

    def _rows(self) -> frozenset[int]:
        """How many rows the matrices of the call have."""
        shapes = [shape for _, seen in self.call.observations for shape in seen.tensors if shape]
        return frozenset(shape[0] for shape in shapes if len(shape) == MATRIX)

    def _serves_all_heads(self) -> bool:
        return self.is_helper and all(self.legend.field(c) != KEY_VALUE for c in self.letters)


def sizes_of(scope: Scope, legend: Legend, config: Mapping[str, int], call: Call) -> Sizes:
    """The sizes of one call."""
    return Sizes(legend, config, scope.letters, scope.is_helper, call)


@dataclass(frozen=True)
class Solution:
    """The letters' numbers, and which alternative of which place held."""

    numbers: Numbers
    readings: frozenset[tuple[int, int]]


@dataclass(frozen=True)
class Conflict:
    """The first observation that no choice of numbers explains, and the numbers up to it."""

    place: Place
    seen: Seen
    numbers: Numbers


class _Search:
    """Depth first over the observations; remembers how far it came."""

    def __init__(self, places: Mapping[int, Place], sizes: Sizes) -> None:
        self.places = places
        self.sizes = sizes
        self.observations = sizes.call.observations
        self.deepest = -1
        self.numbers: Numbers = {}

    def solutions(
        self, index: int, numbers: Numbers, used: frozenset[tuple[int, int]]
    ) -> Iterator[Solution]:
        if index == len(self.observations):
            yield Solution(numbers, used)
            return
        if index > self.deepest:
            self.deepest, self.numbers = index, numbers
        number, seen = self.observations[index]
        place = self.places[number]
        if seen.stands_for_none and place.is_optional:
            yield from self.solutions(index + 1, numbers, used)
            return
        for i, reading in enumerate(place.statement.readings):
            pairs = paired(reading, seen, is_optional=place.is_optional)
            if pairs is None:
                continue
            marked = used | {(number, i)} if pairs else used
            for more in self._fits(self._unshared(pairs) if reading.each else pairs, numbers):
                yield from self.solutions(index + 1, more, marked)

    def _unshared(self, pairs: list[tuple[Dimension, int]]) -> list[tuple[Dimension, int]]:
        """Without the reaches, where they are right: each layer's tensor has one of its own."""
        return [
            (dimension, found)
            for dimension, found in pairs
            if not self.sizes.legend.is_length(dimension.text, Length.REACH)
            or found not in (self.sizes.domain(dimension.text) or ())
        ]

    def _fits(self, pairs: list[tuple[Dimension, int]], numbers: Numbers) -> Iterator[Numbers]:
        """Every way to number the letters of these dimensions."""
        if not pairs:
            yield numbers
            return
        (dimension, found), *rest = pairs
        for more in self._readings(dimension, found, numbers):
            yield from self._fits(rest, more)

    def _readings(self, dimension: Dimension, found: int, numbers: Numbers) -> Iterator[Numbers]:
        unknown = next((name for name in dimension.names if name not in numbers), None)
        if unknown is None:
            if dimension.value(numbers) == found:
                yield numbers
            return
        domain = self.sizes.domain(unknown)
        if domain is None:  # nothing larger can be part of the sum
            domain = frozenset([found] if dimension.is_letter else range(1, 2 * found + 1))
        for number in sorted(domain):
            yield from self._readings(dimension, found, {**numbers, unknown: number})


def paired(
    reading: Reading, seen: Seen, *, is_optional: bool
) -> list[tuple[Dimension, int]] | None:
    """Each dimension beside its number; None where the tensors or ranks are not as many."""
    tensors = seen.tensors
    shapes: tuple[Shape, ...] = reading.shapes * len(tensors) if reading.each else reading.shapes
    if len(tensors) != len(shapes) or (reading.each and not seen.is_tuple):
        return None
    pairs: list[tuple[Dimension, int]] = []
    for shape, tensor in zip(shapes, tensors, strict=True):
        if tensor is None:
            if not is_optional:
                return None
            continue
        if len(tensor) != len(shape):
            return None
        pairs += zip(shape, tensor, strict=True)
    return pairs


def solve(scope: Scope, sizes: Sizes) -> Solution | Conflict:
    """The first solution, or the conflict that came last."""
    search = _Search({place.number: place for place in scope.places}, sizes)
    solution = next(search.solutions(0, {}, frozenset()), None)
    if solution is not None:
        return solution
    number, seen = search.observations[search.deepest]
    return Conflict(search.places[number], seen, search.numbers)


def wanted(statement: Statement, sizes: Sizes, numbers: Numbers) -> dict[str, str]:
    """For a message: what each letter of the comment is, or may be, here."""
    found = {}
    for name in dict.fromkeys(n for d in statement.dimensions for n in d.names):
        if name in numbers:
            found[name] = str(numbers[name])
        elif (domain := sizes.domain(name)) is not None:
            found[name] = " or ".join(map(str, sorted(domain))) or "nothing"
    return found
