"""The forms that a place of a spec may have: words, numbers, lists, mappings of known keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic_core import PydanticUndefined

from specc.spec.names import Role


@dataclass(frozen=True)
class Words:
    """One of a few words."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Whole:
    """An integer, or arithmetic over sizes that gives one."""

    low: int
    high: int


@dataclass(frozen=True)
class Real:
    """A finite number; what lies between 0 and 1 may be written in per cent."""

    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False

    @property
    def is_fraction(self) -> bool:
        """Does it lie between 0 and 1?"""
        return self.high is not None and self.high <= 1.0


@dataclass(frozen=True)
class Flag:
    """true or false."""


@dataclass(frozen=True)
class Text:
    """Anything printable; it stays text."""


@dataclass(frozen=True)
class Name:
    """What becomes a name in the generated file or its path. `role` says which."""

    role: Role


@dataclass(frozen=True)
class Anything:
    """Any one scalar (a ledger's choice)."""


@dataclass(frozen=True)
class Constant:
    """Exactly this number."""

    value: int


@dataclass(frozen=True)
class Items:
    """A list. `one` = a single item may stand without its list; `distinct` = no item twice."""

    item: Shape
    one: bool = False
    distinct: bool = False


@dataclass(frozen=True)
class Field:
    """One key of a mapping."""

    name: str
    shape: Shape
    nullable: bool = False
    default: object = PydanticUndefined

    @property
    def has_default(self) -> bool:
        """Does the schema fill it in?"""
        return self.default is not PydanticUndefined


@dataclass(frozen=True)
class Record:
    """A mapping of known keys. `spread` = one scalar may stand for all of its fields."""

    name: str
    fields: tuple[Field, ...]
    spread: bool = False

    def field(self, name: str) -> Field | None:
        """The field of that key, or None."""
        return next((field for field in self.fields if field.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        """Its keys."""
        return tuple(field.name for field in self.fields)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The words of its `kind`, which may stand for the whole mapping."""
        kind = self.field("kind")
        return kind.shape.words if kind is not None and isinstance(kind.shape, Words) else ()


@dataclass(frozen=True)
class Variants:
    """A mapping whose `kind` decides which keys it may have."""

    records: tuple[Record, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """All words that its `kind` may be."""
        return tuple(kind for record in self.records for kind in record.kinds)

    def record(self, kind: str | None) -> Record | None:
        """The fields that go with one kind, or None."""
        return next((record for record in self.records if kind in record.kinds), None)

    def kinds_with(self, key: str) -> tuple[str, ...]:
        """The kinds that have a field of that name."""
        return tuple(r.kinds[0] for r in self.records if r.field(key) is not None)

    @property
    def any_kind(self) -> Record:
        """All fields of all kinds: what an override without a `kind` may hold."""
        fields: dict[str, Field] = {"kind": Field("kind", Words(self.kinds))}
        for record in self.records:
            for field in record.fields:
                fields[field.name] = _either(fields.get(field.name), field)
        return Record("any", tuple(fields.values()))


def _either(one: Field | None, other: Field) -> Field:
    """A field that two kinds have: where both take words, the words of both."""
    if one is None:
        return other
    if isinstance(one.shape, Words) and isinstance(other.shape, Words):
        words = dict.fromkeys((*one.shape.words, *other.shape.words))
        return Field(one.name, Words(tuple(words)), one.nullable, one.default)
    return one


@dataclass(frozen=True)
class Options:
    """One of a few shapes, told apart by what stands there: words, a number, a mapping."""

    shapes: tuple[Shape, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words among the options."""
        return tuple(w for shape in self.shapes if isinstance(shape, Words) for w in shape.words)


@dataclass(frozen=True)
class Table:
    """A mapping whose keys a person chooses: layer types, ledger paths, or places of layers."""

    keys: Literal["type", "path"]
    value: Shape


@dataclass(frozen=True)
class Run:
    """A layer type, or {layer type: how often in a row}."""

    name: Name = Name("type")
    count: Whole = Whole(1, 10_000)


Leaf = Words | Whole | Real | Flag | Text | Name | Anything | Constant | Run
Shape = Leaf | Items | Record | Variants | Options | Table
