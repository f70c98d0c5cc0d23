"""What a shape comment may say, as data: `[B, T, H*E]`, `2 x [..]`, `[..], [..]`, `[..] or [..]`.

A dimension is a letter, the name of a size, a number, or sums, products and whole parts of these.
Words may follow the shapes; the word `each` says that a tuple holds any number of such tensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

ITEM = re.compile(r"(?:(\d+) x )?\[([^\[\]]*)\]")
AND = re.compile(r", (?=(?:\d+ x )?\[)")
OR = re.compile(r",? or (?=(?:\d+ x )?\[)")
TERM = re.compile(r"([A-Za-z0-9_]+(?:\*[A-Za-z0-9_]+)*)(?:/(\d+|[A-Z]))?")
NAME = re.compile(r"[A-Z]|[a-z_][a-z0-9_]*")
LETTER = re.compile(r"\b[A-Z]\b")
MANY = 16  # tensors in `n x [...]`


class GrammarError(Exception):
    """The text is no shape; the message says what was met."""


@dataclass(frozen=True)
class Term:
    """factor * names / divisor, which is a number or a letter."""

    factor: int
    names: tuple[str, ...]
    divisor: int | str

    @property
    def all_names(self) -> tuple[str, ...]:
        """The divisor's letter too."""
        return self.names if isinstance(self.divisor, int) else (*self.names, self.divisor)

    def value(self, sizes: Mapping[str, int]) -> int | None:
        """Its number; None where the division leaves a rest."""
        product = self.factor
        for name in self.names:
            product *= sizes[name]
        divisor = self.divisor if isinstance(self.divisor, int) else sizes[self.divisor]
        return None if product % divisor else product // divisor


@dataclass(frozen=True)
class Dimension:
    """A sum of terms. `text` is how it was written."""

    text: str
    terms: tuple[Term, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Letters and other names, each once."""
        return tuple(dict.fromkeys(name for term in self.terms for name in term.all_names))

    @property
    def is_letter(self) -> bool:
        """A letter and nothing else."""
        return LETTER.fullmatch(self.text) is not None

    def value(self, sizes: Mapping[str, int]) -> int | None:
        """Its number, from the sizes of all its names; None where a division leaves a rest."""
        values = [term.value(sizes) for term in self.terms]
        return None if None in values else sum(value or 0 for value in values)


Shape = tuple[Dimension, ...]


@dataclass(frozen=True)
class Reading:
    """One alternative: the shapes of a tuple's tensors, or of a lone tensor."""

    text: str
    shapes: tuple[Shape, ...]
    each: bool


@dataclass(frozen=True)
class Statement:
    """All alternatives. `text` is the comment without its words."""

    text: str
    readings: tuple[Reading, ...]

    @property
    def dimensions(self) -> Iterator[Dimension]:
        """Every dimension of every shape."""
        for reading in self.readings:
            for shape in reading.shapes:
                yield from shape

    @property
    def names(self) -> frozenset[str]:
        """Letters and other names."""
        return frozenset(name for dimension in self.dimensions for name in dimension.names)

    @property
    def letters(self) -> frozenset[str]:
        """The letters."""
        return frozenset(name for name in self.names if LETTER.fullmatch(name))


def is_letter(name: str) -> bool:
    """Whether the name is a letter that a legend must declare."""
    return LETTER.fullmatch(name) is not None


def parse_comment(text: str) -> Statement:
    """The shapes at the start of a comment (without its `#`). Raises GrammarError."""
    statement, end = _scan(text, 0)
    rest = text[end:]
    if rest and rest[0] not in " ,":
        raise GrammarError(f"{rest!r} follows the shape")
    if ITEM.search(rest):
        raise GrammarError(f"a second shape in {rest.strip(' ,')!r}")
    return statement


def starts_with_shape(text: str) -> bool:
    """Whether a comment means to be a shape comment."""
    return ITEM.match(text) is not None


def hides_shape(text: str) -> bool:
    """Whether a shape stands behind words, where a comment has none."""
    return not starts_with_shape(text) and _first_shape(text, 0) is not None


@dataclass(frozen=True)
class Move:
    """What a docstring says of a function: its first tensor arguments, and what it returns."""

    arguments: Statement | None
    result: Statement


def parse_docstring(text: str) -> Move | None:
    """`A -> B`, or shapes alone, which are the result's. None without shapes.

    Words may stand around the shapes. Raises GrammarError for two shapes without an arrow.
    """
    start = _first_shape(text, 0)
    if start is None:
        return None
    first, end = _scan(text, start)
    start = _first_shape(text, end)
    if start is None:
        return Move(None, first)
    if "->" not in text[end:start]:
        raise GrammarError(f"no arrow stands between {first.text} and what follows")
    second, end = _scan(text, start)
    if _first_shape(text, end) is not None:
        raise GrammarError(f"shapes follow {first.text} -> {second.text}")
    return Move(first, second)


def _first_shape(text: str, start: int) -> int | None:
    """Where the first bracket with a letter or a comma in it begins that reads as a shape."""
    for match in ITEM.finditer(text, start):
        if not (LETTER.search(match[2]) or ", " in match[2]):
            continue
        try:
            _shape(match[2])
        except GrammarError:
            continue
        return match.start()
    return None


def _scan(text: str, start: int) -> tuple[Statement, int]:
    """The alternatives that begin at `start`, and where they end."""
    readings: list[Reading] = []
    shapes: list[Shape] = []
    begin = end = start
    while True:
        match = ITEM.match(text, end)
        if match is None:
            raise GrammarError(f"no shape at {text[end:]!r}")
        count = int(match[1] or 1)
        if not 0 < count <= MANY:
            raise GrammarError(f"{count} tensors")
        shapes += [_shape(match[2])] * count
        end = match.end()
        if more := AND.match(text, end):
            end = more.end()
            continue
        each = re.match(r" each\b", text[end:]) is not None
        readings.append(Reading(text[begin:end], tuple(shapes), each))
        if each and len(shapes) > 1:
            raise GrammarError("`each` follows more than one shape")
        shapes = []
        if (more := OR.match(text, end)) is None:
            return Statement(text[start:end], tuple(readings)), end
        begin = end = more.end()


def _shape(text: str) -> Shape:
    if not text.strip():
        return ()
    return tuple(_dimension(part.strip()) for part in text.split(","))


def _dimension(text: str) -> Dimension:
    return Dimension(text, tuple(_term(part.strip()) for part in text.split("+")))


def _term(text: str) -> Term:
    match = TERM.fullmatch(text)
    if match is None:
        raise GrammarError(f"{text!r} is no size")
    factor, names = 1, []
    for part in match[1].split("*"):
        if part.isdecimal():
            factor *= int(part)
        elif NAME.fullmatch(part):
            names.append(part)
        else:
            raise GrammarError(f"{part!r} is neither a letter nor the name of a size")
    divisor = match[2] if match[2] and match[2].isalpha() else int(match[2] or 1)
    if divisor == 0:
        raise GrammarError(f"{text!r} divides by 0")
    return Term(factor, tuple(names), divisor)
