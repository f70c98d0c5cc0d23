"""A mutant is one mistake that people make with a part, as an edit; and the edits they share.

An edit gives None where it does not apply, so that no mutant is the model that it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from specc.ir.model import Model
from specc.ir.sizes import Constant
from specc.ir.walk import resize, walk

Part = TypeVar("Part")
Edit = Callable[[Model], Model | None]
Reason = Callable[[Model], str | None]


def matters(_model: Model) -> str | None:
    """The reason of a mutant that no model is indifferent to."""
    return None


@dataclass(frozen=True)
class Mutant:
    """A wrong choice in the IR. `harmless` says why a model cannot notice it, if it cannot."""

    name: str
    edit: Edit
    harmless: Reason = matters


def rewritten(model: Model, kind: type[Part], change: Callable[[Part], object]) -> Model | None:
    """The model with every part of a kind changed; None where nothing differs."""
    stacks = _rewritten(model.stacks, kind, change)
    heads = _rewritten(model.heads, kind, change)
    edited = replace(model, stacks=stacks, heads=heads)
    return None if edited == model else edited


def _rewritten(
    part: Any,  # noqa: ANN401  # fields of any part
    kind: type[Part],
    change: Callable[[Part], object],
) -> Any:  # noqa: ANN401
    if isinstance(part, tuple):
        return tuple(_rewritten(item, kind, change) for item in part)
    if is_dataclass(part) and not isinstance(part, type):
        part = replace(
            part,
            **{f.name: _rewritten(vars(part)[f.name], kind, change) for f in fields(part)},
        )
    return change(part) if isinstance(part, kind) else part


def each(
    name: str, kind: type[Part], change: Callable[[Part], object], harmless: Reason = matters
) -> Mutant:
    """One change on every part of a kind."""
    return Mutant(
        f"{kind.__name__}: {name}", lambda model: rewritten(model, kind, change), harmless
    )


def set_to(kind: type[Part], field: str, value: object, harmless: Reason = matters) -> Mutant:
    """A field set to one value; a field that is None stays None."""
    label = value.value if isinstance(value, Enum) else _word(value)

    def change(part: Part) -> object:
        return part if vars(part)[field] is None else _with(part, field, value)

    return each(f"{field} = {label}", kind, change, harmless)


def choices(kind: type[Part], field: str, options: type[Enum]) -> tuple[Mutant, ...]:
    """A field set to each of an enum's values in turn."""
    return tuple(set_to(kind, field, option) for option in options)


def flipped(kind: type[Part], field: str, harmless: Reason = matters) -> Mutant:
    """A boolean field negated."""
    return each(
        f"{field} flipped",
        kind,
        lambda part: _with(part, field, not vars(part)[field]),
        harmless,
    )


def dropped(kind: type[Part], field: str, harmless: Reason = matters) -> Mutant:
    """A field set to None."""
    return set_to(kind, field, None, harmless)


def scaled(kind: type[Part], field: str, factor: float, harmless: Reason = matters) -> Mutant:
    """A constant, wherever it stands under that name, times a factor."""

    def edit(model: Model) -> Model | None:
        found = [vars(p)[field] for p in _instances(model, kind)]
        values = {c.name: c.value * factor for c in found if isinstance(c, Constant)}
        return resize(model, values) if values else None

    return Mutant(f"{kind.__name__}: {field} x {factor:g}", edit, harmless)


def _instances(model: Model, kind: type[Part]) -> Iterator[Part]:
    for part in walk(model.stacks + model.heads):
        if isinstance(part, kind):
            yield part


def _with(part: Part, field: str, value: object) -> object:
    changes: dict[str, Any] = {field: value}
    return replace(part, **changes)  # type: ignore[type-var]


def _word(value: object) -> str:
    return type(value).__name__ if is_dataclass(value) else str(value)
