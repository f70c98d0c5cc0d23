"""From parts to classes: one class for each distinct structure.

Two parts that differ only in numbers share a class, which takes those numbers as arguments; two
that differ in
structure get two classes, named for the stack or the layer type that they serve.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from specc.ir.init import FanInUniform, Fill, LogSqrt, Normal, StandardNormal, XavierUniform
from specc.ir.positions import Alibi, Rotary
from specc.ir.sizes import Constant, Size
from specc.ir.walk import rename
from specc.render.code import Scope, camel

Part = TypeVar("Part")
INITS = (Fill, FanInUniform, LogSqrt, Normal, StandardNormal, XavierUniform)


@dataclass(frozen=True)
class Role(Generic[Part]):
    """A part at its place: the stack and layer type that hold it, and what else its class depends
    on.
    """

    part: Part
    stack: str
    layer_type: str
    context: object = None


@dataclass(frozen=True)
class PartClass(Generic[Part]):
    """One class: its name, a part that stands for all, and which numbers are arguments."""

    name: str
    part: Part
    arguments: tuple[Size | Constant, ...]
    roles: tuple[Role[Part], ...]

    @property
    def scope(self) -> Scope:
        return Scope(arguments=frozenset(argument.name for argument in self.arguments))

    @property
    def parameters(self) -> tuple[str, ...]:
        """What the constructor takes besides the config: `d_ff: int`."""
        kinds = {Size: "int", Constant: "float"}
        return tuple(f"{a.name}: {kinds[type(a)]}" for a in self.arguments)


@dataclass(frozen=True)
class Call(Generic[Part]):
    """How to construct the class for one part: `FeedForward(config, config.d_ff_local)`."""

    cls: PartClass[Part]
    numbers: tuple[Size | Constant, ...]

    def code(self, scope: Scope) -> str:
        values = [scope.config, *(scope.number(number) for number in self.numbers)]
        return f"{self.cls.name}({', '.join(values)})"


class ClassTable(Generic[Part]):
    """The classes of one kind of part, in the order in which the file first needs them."""

    def __init__(self, base: str, roles: Sequence[Role[Part]]) -> None:
        groups: dict[object, list[Role[Part]]] = {}
        for role in roles:
            groups.setdefault(_key(role), []).append(role)
        names = _names(base, list(groups.values()))
        self.classes = tuple(
            _class(name, group) for name, group in zip(names, groups.values(), strict=True)
        )
        self._by_key = dict(zip(groups, self.classes, strict=True))

    def call(self, role: Role[Part]) -> Call[Part]:
        """The construction of the part in that role."""
        cls = self._by_key[_key(role)]
        own = _numbers(role.part)
        shared = [_numbers(r.part) for r in cls.roles]
        varying = [i for i in range(len(own)) if len({numbers[i].name for numbers in shared}) > 1]
        return Call(cls, tuple(own[i] for i in varying))


def _class(name: str, group: list[Role[Part]]) -> PartClass[Part]:
    slots = list(zip(*(_numbers(role.part) for role in group), strict=True))
    renames: dict[str, str] = {}
    for slot in slots:
        names = [number.name for number in slot]
        if len(set(names)) > 1:
            renames[names[0]] = _common(names)
    part = rename(group[0].part, renames)
    arguments = tuple(n for n in _numbers(part) if n.name in renames.values())
    return PartClass(name, part, arguments, tuple(group))


def _names(base: str, groups: list[list[Role[Any]]]) -> list[str]:
    """The base alone, or a prefix that only this group has: its stack, else its layer types."""
    if len(groups) == 1:
        return [base]
    names = []
    for group in groups:
        others = [role for other in groups if other is not group for role in other]
        stacks = {role.stack for role in group}
        types = list(dict.fromkeys(role.layer_type for role in group))
        if len(stacks) == 1 and not stacks & {role.stack for role in others}:
            names.append(camel(*stacks, base))
        elif len(types) > 1 and all(
            len({r.layer_type for r in o}) == 1 for o in groups if o is not group
        ):
            names.append(base)  # the one that serves several types is the common one
        elif set(types) & {role.layer_type for role in others}:
            names.append(camel(*stacks, *types, base))
        else:
            names.append(camel(*types, base))
    return names


def _common(names: list[str]) -> str:
    """What the names start with in common: `d_ff` of `d_ff_local` and `d_ff_global`."""
    words = []
    for column in zip(*(name.split("_") for name in names), strict=False):
        if len(set(column)) > 1:
            break
        words.append(column[0])
    return "_".join(words) or "size"


def _key(role: Role[Any]) -> object:
    return _structure(role.part, {}), role.context


def structure(part: object) -> object:
    """What parts must have in common to share a class."""
    return _structure(part, {})


def _structure(part: object, seen: dict[str, int]) -> object:
    """The part with its numbers replaced by where they first occurred, and without its
    initialisation.
    """
    match part:
        case Size() | Constant():
            return type(part).__name__, seen.setdefault(part.name, len(seen))
        case Rotary():
            return "rotary", part.layout, part.is_partial
        case Alibi():
            return "alibi"
        case tuple():
            return tuple(_structure(item, seen) for item in part)
        case Enum() | str() | int() | float() | bool() | None:
            return part
        case _ if isinstance(part, INITS):
            return None
        case _ if is_dataclass(part):
            inner = tuple(_structure(getattr(part, f.name), seen) for f in fields(part))
            return type(part).__name__, inner
    raise TypeError(f"no part of the IR: {part!r}")


def _numbers(part: object) -> list[Size | Constant]:
    """The part's distinct numbers in the order in which `_structure` meets them."""
    found: dict[str, Size | Constant] = {}

    def visit(node: object) -> None:
        if isinstance(node, Size | Constant):
            found.setdefault(node.name, node)
        elif isinstance(node, tuple):
            for item in node:
                visit(item)
        elif is_dataclass(node) and not isinstance(node, (*INITS, Rotary, Alibi)):
            for f in fields(node):
                visit(getattr(node, f.name))

    visit(part)
    return list(found.values())
