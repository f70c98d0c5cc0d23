"""Generic walks over the IR: which numbers it holds, and the same model with other numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, cast

from specc.ir.model import Model
from specc.ir.sizes import Constant, Number, Size, Vector

Part = TypeVar("Part")
Value = int | float | tuple[float, ...]


def walk(part: object) -> Iterator[object]:
    """Every dataclass inside `part`, itself first, in field order."""
    if isinstance(part, tuple):
        for item in part:
            yield from walk(item)
    elif is_dataclass(part):
        yield part
        for field in fields(part):
            yield from walk(getattr(part, field.name))


def config_fields(model: Model) -> tuple[Number, ...]:
    """The numbers that `Config` holds, each name once, in the order in which the parts name them.

    Raises ValueError if two different numbers share a name: lowering must not let that happen.
    """
    found: dict[str, Number] = {}
    for part in walk(model.stacks + model.heads):
        if isinstance(part, Size | Constant | Vector):
            known = found.setdefault(part.name, part)
            if known != part:
                raise ValueError(f"two numbers share the name {part.name}: {known} and {part}")
    return tuple(found.values())


def resize(part: Part, values: Mapping[str, Value]) -> Part:
    """The same part with other numbers: `resize(model, {"d_model": 24})`.

    Names that no number of the part has are ignored, so one mapping can serve many models.
    """

    def renumbered(number: Number) -> Number:
        if number.name not in values:
            return number
        return renumber(number, values[number.name])

    return cast("Part", _map_numbers(part, renumbered))


def renumber(number: Number, value: Value) -> Number:
    """The number with another value. Raises TypeError if it is of another kind."""
    match number:
        case Size() if not isinstance(value, tuple):
            return replace(number, value=int(value))
        case Constant() if not isinstance(value, tuple):
            return replace(number, value=float(value))
        case Vector() if isinstance(value, tuple):
            return replace(number, values=value)
        case _:
            raise TypeError(f"{number.name} cannot be {value!r}")


def rename(part: Part, names: Mapping[str, str]) -> Part:
    """The same part with some numbers under other names."""
    return cast("Part", _map_numbers(part, lambda n: replace(n, name=names.get(n.name, n.name))))


def _map_numbers(part: object, change: Callable[[Number], Number]) -> object:
    if isinstance(part, tuple):
        return tuple(_map_numbers(item, change) for item in part)
    if isinstance(part, Size | Constant | Vector):
        return change(part)
    if is_dataclass(part) and not isinstance(part, type):
        changes = {f.name: _map_numbers(getattr(part, f.name), change) for f in fields(part)}
        return replace(part, **changes)
    return part
