"""Defaults: a merged tree along its shape, with every field that nobody set filled in and marked
as such. Fields without a default are problems here, as are keys that do not go with the kind that
merging left.
"""

from __future__ import annotations

from pydantic import BaseModel

from specc.diagnostics import Diagnostic, dotted, listed
from specc.spec.check import expected, problem
from specc.spec.merge import changes_kind, merge_mappings
from specc.spec.shapes import Field, Record, Variants, Words
from specc.spec.tree import Entry, Mapping, Node, Origin, Scalar, grow, is_null


def fill(node: Mapping, shape: Record | Variants, problems: list[Diagnostic]) -> Mapping:
    """The mapping with all fields of its record, in the record's order."""
    record = shape if isinstance(shape, Record) else shape.record(node.word("kind"))
    if record is None:
        problems.append(missing(node, Field("kind", Words(shape.kinds))))
        return node
    entries = []
    for field in record.fields:
        value = _value(node, field, problems)
        if value is not None:
            entries.append(Entry(field.name, value, None))
    problems += [
        _stray(node, entry, record, shape) for entry in node.entries if not record.field(entry.key)
    ]
    return Mapping(tuple(entries), node.mark)


def _value(node: Mapping, field: Field, problems: list[Diagnostic]) -> Node | None:
    value = node.get(field.name)
    if value is None or (is_null(value) and not field.nullable):
        if not field.has_default:
            problems.append(missing(node, field))
            return None
        return grow(_plain(field.default), node.mark.filled(field.name, "default"))
    if isinstance(value, Mapping) and isinstance(field.shape, Record | Variants):
        return fill(value, field.shape, problems)
    return value


def _plain(default: object) -> object:
    return default.model_dump() if isinstance(default, BaseModel) else default


def missing(node: Mapping, field: Field) -> Diagnostic:
    """The diagnostic about a field that has no default and that nobody set."""
    path = (*node.mark.written, field.name)
    place = node.mark.position if node.mark.written else None
    message = f"{dotted(path)} is missing, and has no default"
    return Diagnostic(path, message, f"write {expected(field.shape)}", place)


def _stray(node: Mapping, entry: Entry, record: Record, shape: Record | Variants) -> Diagnostic:
    kinds = f" of kind '{node.word('kind')}'" if record.kinds else ""
    message = f"'{entry.key}' does not go with {dotted(node.mark.written)}{kinds}"
    others = shape.kinds_with(entry.key) if isinstance(shape, Variants) else ()
    hint = f"known here: {listed(record.names, 'and')}"
    if others:
        hint = f"it belongs to kind {listed(others)}"
    found = problem(entry.value, message, hint)
    return Diagnostic(found.path, message, hint, entry.position or found.position)


def set_default(node: Mapping, key: str, value: object, origin: Origin = "default") -> Mapping:
    """The mapping with that key, set unless somebody has set it already."""
    if key in node.keys and not is_null(node.get(key)):
        return node
    return node.put(key, grow(value, node.mark.filled(key, origin)))


def finish_norm(node: Mapping) -> Mapping:
    """A norm with the bias and the cast that follow from its kind and weight."""
    is_layer = node.word("kind") == "layer"
    bias = is_layer and node.word("weight") != "none"
    node = set_default(node, "bias", bias, "derived")
    return set_default(node, "cast", "native" if is_layer else "before_weight", "derived")


class BaseNorm:
    """The norm of a layer or a model, which partial norms start from."""

    def __init__(self, node: Mapping, shape: Record, problems: list[Diagnostic]) -> None:
        self._raw = set_default(node, "kind", "layer")
        self.full = finish_norm(fill(self._raw, shape, problems))

    def start(self, partial: Mapping) -> Mapping:
        """A partial norm over this one; a changed kind starts anew."""
        if changes_kind(self.full, partial):
            return partial
        start = self._raw if "weight" in partial.keys else self.full
        merged = merge_mappings(start, partial)
        return Mapping(merged.entries, partial.mark)

    @property
    def eps(self) -> Scalar | None:
        """The eps of the filled norm."""
        found = self.full.get("eps")
        return found if isinstance(found, Scalar) else None
