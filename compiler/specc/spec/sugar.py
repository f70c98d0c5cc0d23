"""Short forms spelt out: `norm: rms` becomes {kind: rms}, `dropout: 0.1` all five sites, `head:` a
list of one. Takes a tree that `check` found nothing wrong with and gives one in which every part
is a mapping and every number has its type. Arithmetic stays text until sizes are known.
"""

from __future__ import annotations

from dataclasses import replace

from specc.spec.check import only_kind, real_value
from specc.spec.names import one_line
from specc.spec.shapes import (
    Anything,
    Field,
    Items,
    Options,
    Real,
    Record,
    Shape,
    Table,
    Text,
    Variants,
    Whole,
)
from specc.spec.tree import Entry, Mapping, Node, Scalar, Sequence, is_null


def spell_out(node: Node, shape: Shape) -> Node:
    """The same tree without short forms."""
    match shape:
        case Record():
            return _record(node, shape)
        case Variants():
            return _variants(node, shape)
        case Items():
            return _items(node, shape)
        case Options():
            return _options(node, shape)
        case Table() if isinstance(node, Mapping):
            entries = tuple(_entry(entry, shape.value) for entry in node.entries)
            return replace(node, entries=entries)
        case _ if isinstance(node, Scalar):
            return _scalar(node, shape)
        case _:
            return node


def _entry(entry: Entry, shape: Shape) -> Entry:
    if is_null(entry.value):
        return replace(entry, value=Mapping((), entry.value.mark))
    return replace(entry, value=spell_out(entry.value, shape))


def _scalar(node: Scalar, shape: Shape) -> Scalar:
    match shape:
        case Whole() if isinstance(node.value, float):
            return replace(node, value=int(node.value))
        case Real():
            return replace(node, value=real_value(node, shape))
        case Text() | Anything() if isinstance(node.value, str):
            return replace(node, value=one_line(node.value))
        case _:
            return node


def _record(node: Node, shape: Record) -> Node:
    if isinstance(node, Scalar):
        if shape.spread:
            return _spread(node, shape)
        return _of_kind(node)
    if not isinstance(node, Mapping):
        return node
    entries = tuple(
        replace(entry, value=_field(entry.value, field))
        for entry in node.entries
        for field in (shape.field(entry.key),)
        if field is not None
    )
    return replace(node, entries=entries)


def _field(value: Node, field: Field) -> Node:
    if is_null(value):
        return value
    kinded = isinstance(field.shape, Variants) or (
        isinstance(field.shape, Record) and field.shape.kinds
    )
    if field.nullable and kinded and isinstance(value, Scalar):
        if value.value is True:
            return Mapping((), value.mark)
        if value.value in (False, "none"):
            return replace(value, value=None)
    return spell_out(value, field.shape)


def _spread(node: Scalar, shape: Record) -> Mapping:
    entries = (
        Entry(
            field.name, _scalar(replace(node, mark=node.mark.below(field.name)), field.shape), None
        )
        for field in shape.fields
    )
    return Mapping(tuple(entries), node.mark)


def _of_kind(node: Scalar) -> Mapping:
    kind = replace(node, mark=node.mark.below("kind"))
    return Mapping((Entry("kind", kind, node.mark.position),), node.mark)


def _variants(node: Node, shape: Variants) -> Node:
    if isinstance(node, Scalar):
        return _of_kind(node)
    if not isinstance(node, Mapping):
        return node
    if node.get("kind") is None:
        node = only_kind(node, shape) or node
    record = shape.record(node.word("kind")) or shape.any_kind
    return _record(node, record)


def _items(node: Node, shape: Items) -> Node:
    if not isinstance(node, Sequence):
        return Sequence((spell_out(node, shape.item),), node.mark)
    return replace(node, items=tuple(spell_out(item, shape.item) for item in node.items))


def _options(node: Node, shape: Options) -> Node:
    if isinstance(node, Scalar) and type(node.value) in (int, float):
        if node.value == 1 and "one" in shape.words:
            return replace(node, value="one")
        return replace(node, value=float(node.value or 0))
    if isinstance(node, Mapping):
        record = next(option for option in shape.shapes if isinstance(option, Record))
        return _record(node, record)
    return node
