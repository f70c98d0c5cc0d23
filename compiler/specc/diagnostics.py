"""The one error vocabulary: where something stands, what is wrong with it, and how that reads.

Stages collect diagnostics and raise one `SpecError`; it prints `file:line:col: error: message`,
the source line, a caret and a hint. Nothing here knows what a spec means.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from unicodedata import combining, east_asian_width

SpecPath = tuple[str | int, ...]

_WIDEST_LINE = 160


@dataclass(frozen=True, order=True)
class Position:
    """A place in a text file; both count from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True)
class Diagnostic:
    """One thing that is wrong: `path` says where in the spec, `position` where in its file."""

    path: SpecPath
    message: str
    hint: str | None = None
    position: Position | None = None


class SpecError(Exception):
    """A spec that specc refuses, with every reason that the stage found."""

    def __init__(
        self, diagnostics: Iterable[Diagnostic], source: str = "<spec>", text: str = ""
    ) -> None:
        self.diagnostics = tuple(dict.fromkeys(diagnostics))
        self.source = source
        self.text = text
        super().__init__(source)

    def __str__(self) -> str:
        lines = self.text.split("\n")
        return "\n".join(render(each, self.source, lines) for each in self.diagnostics)

    def located(
        self, source: str, text: str, position_of: Callable[[SpecPath], Position | None]
    ) -> SpecError:
        """The same error for a file: paths looked up, diagnostics in the file's order."""
        placed = (
            each if each.position else replace(each, position=position_of(each.path))
            for each in self.diagnostics
        )
        return SpecError(in_order(placed), source, text)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """By place in the file; what has no place comes last, as found."""
    nowhere = Position(2**31, 0)
    return tuple(sorted(diagnostics, key=lambda each: each.position or nowhere))


def render(diagnostic: Diagnostic, source: str, lines: Sequence[str]) -> str:
    """`source:line:col: error: message`, the line with a caret below it, and the hint."""
    place = diagnostic.position
    if place is None:
        parts = [f"{source}: error: {diagnostic.message}"]
    else:
        parts = [f"{source}:{place.line}:{place.column}: error: {diagnostic.message}"]
        parts += _excerpt(place, lines)
    if diagnostic.hint is not None:
        parts.append(f"  hint: {diagnostic.hint}")
    return "\n".join(parts)


def _excerpt(place: Position, lines: Sequence[str]) -> list[str]:
    if not 1 <= place.line <= len(lines):
        return []
    line = lines[place.line - 1].rstrip("\r")
    column = min(place.column, len(line) + 1)
    start = max(0, column - _WIDEST_LINE // 2) if len(line) > _WIDEST_LINE else 0
    shown = line[start : start + _WIDEST_LINE]
    gap = "".join(_blank(character) for character in line[start : column - 1])
    number = f"{place.line:>5} | "
    return [f"{number}{shown}".rstrip(), f"{'| ':>{len(number)}}{gap}^"]


def _blank(character: str) -> str:
    """White space as wide as the character stands in a terminal."""
    if character == "\t":
        return "\t"
    if combining(character):
        return ""
    return "  " if east_asian_width(character) in "WF" else " "


def dotted(path: SpecPath) -> str:
    """A path as a person writes it: `layers.pattern[2]`."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word that was probably meant, or None."""
    by_lower = {each.lower(): each for each in known}
    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return by_lower[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """The hint "did you mean 'rms'?", or None when nothing is close."""
    found = closest(word, known)
    return f"did you mean '{found}'?" if found is not None else None


def listed(words: Iterable[str], last: str = "or") -> str:
    """`a, b or c`."""
    *head, tail = words
    return f"{', '.join(head)} {last} {tail}" if head else tail
