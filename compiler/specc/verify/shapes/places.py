"""Where shape comments stand: plain data between the pass that finds them and those that judge."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specc.verify.shapes.grammar import Statement
from specc.verify.shapes.legend import Legend


class Kind(Enum):
    """What the comment speaks of."""

    PARAMETER = "parameter"
    VALUE = "value"  # an assignment's right side
    RETURN = "return"
    FIELD = "field"  # of a NamedTuple, or an annotated attribute of a class
    ARGUMENTS = "arguments"  # a docstring's left side
    RESULT = "result"  # a docstring's right side


@dataclass(frozen=True)
class Place:
    """One comment, or one side of a docstring's move."""

    number: int
    kind: Kind
    line: int
    name: str  # the variable, field or parameter; empty for results
    statement: Statement
    is_optional: bool  # the type says `| None` or `| slice`, or there is none
    is_in_error_branch: bool


@dataclass(frozen=True)
class Scope:
    """A function or a class with fields. Letters hold for one call of it."""

    name: str  # dotted, as in `Attention.forward`
    is_helper: bool  # a function of the module
    parameters: tuple[str, ...]
    tensors: tuple[str, ...]  # the parameters that are tensors, in order
    places: tuple[Place, ...]

    @property
    def letters(self) -> frozenset[str]:
        """Every letter of its comments."""
        return frozenset(letter for place in self.places for letter in place.statement.letters)


@dataclass(frozen=True)
class Lie:
    """What is wrong with one comment: its line (0 for the header), and why."""

    line: int
    text: str
    reason: str

    @property
    def message(self) -> str:
        """All but the line."""
        return f"{self.text}: {self.reason}" if self.text else self.reason

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" if self.line else self.message


def by_line(lie: Lie) -> tuple[bool, int]:
    """The order of a report: what concerns the header comes last."""
    return lie.line == 0, lie.line


@dataclass(frozen=True)
class Survey:
    """A file's comments, what is wrong with them as they stand, and the instrumented copy."""

    text: str  # every commented value goes through the recorder
    legend: Legend
    scopes: tuple[Scope, ...]
    lies: tuple[Lie, ...]

    @property
    def places(self) -> tuple[Place, ...]:
        """All comments."""
        return tuple(place for scope in self.scopes for place in scope.places)
