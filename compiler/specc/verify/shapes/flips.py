"""Proves that the comments are watched: with any one letter of them replaced, the check must fail.

A file is run once; each flipped comment is then held against what those runs showed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from specc.verify.shapes import Observed
from specc.verify.shapes.grammar import LETTER, parse_comment
from specc.verify.shapes.judge import judge_scope
from specc.verify.shapes.places import Place, Scope


@dataclass(frozen=True)
class Flip:
    """One comment with one letter replaced, and whether its function's check failed."""

    place: int  # its number
    line: int
    column: int  # of the letter, in the comment
    before: str
    after: str
    is_caught: bool


def flips(observed: Observed) -> Iterator[Flip]:
    """Every letter of every comment, replaced by every other letter of the header."""
    survey = observed.survey
    for scope in survey.scopes:
        for place in scope.places:
            for column, after in _flipped(place, tuple(survey.legend.meanings)):
                lies = judge_scope(_replaced(scope, place, after), survey.legend, observed.evidence)
                is_caught = next(lies, None) is not None
                yield Flip(place.number, place.line, column, place.statement.text, after, is_caught)


def _flipped(place: Place, letters: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Where, and the comment's texts with one letter replaced."""
    text = place.statement.text
    for match in LETTER.finditer(text):
        for letter in letters:
            if letter != match[0]:
                yield match.start(), text[: match.start()] + letter + text[match.end() :]


def _replaced(scope: Scope, place: Place, text: str) -> Scope:
    flipped = parse_comment(text)
    readings = tuple(
        replace(reading, each=old.each)
        for reading, old in zip(flipped.readings, place.statement.readings, strict=True)
    )
    lying = replace(place, statement=replace(flipped, readings=readings))
    places = tuple(lying if p.number == place.number else p for p in scope.places)
    return replace(scope, places=places)
