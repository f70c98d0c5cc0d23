"""Every value that a spec comes to, at the path where a person would write it, and who set it.

What `specc explain SPEC` prints and what `--strict` goes through. A value that all layers share
stands once, at its base path; one that differs stands under its stack or layer type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from specc.diagnostics import Position, SpecPath, dotted
from specc.spec import shapes
from specc.spec.layer import PARTS
from specc.spec.schema import LedgerEntry, Spec
from specc.spec.stacks import ONLY_TYPE
from specc.spec.tree import Mapping, Node, Origin, Plain, Scalar, Sequence, is_null, leaves

Value = Plain | tuple[Plain, ...]

_ABSENT_IF_NULL = ("title", "class", "paper", "source", "vocab_size", "embedding", "max_seq_len")


@dataclass(frozen=True)
class EffectiveField:
    """One leaf of a spec. `written` is how it stands in the file."""

    path: str
    value: Value
    origin: Origin
    position: Position | None
    written: str
    entry: LedgerEntry | None
    entry_key: str | None

    @property
    def steps(self) -> tuple[str, ...]:
        """The path's steps, list indices among them."""
        return tuple(self.path.replace("[", ".").replace("]", "").split("."))


@dataclass(frozen=True)
class _Leaf:
    """A leaf with the scopes it could be qualified by."""

    node: Scalar | Sequence | Mapping
    relative: SpecPath
    stack: str = ""
    type: str = ""


def effective(tree: Mapping, spec: Spec) -> tuple[EffectiveField, ...]:
    """All fields of a resolved tree, in reading order."""
    found: dict[SpecPath, list[_Leaf]] = {}
    for leaf in _leaves(tree):
        found.setdefault(leaf.node.mark.written, []).append(leaf)
    several = len(spec.stacks) > 1
    fields = [
        _field(path, leaf.node, written, spec)
        for written, group in found.items()
        for path, leaf in _paths(written, group, several)
    ]
    order = {name: i for i, name in enumerate(shapes.spec().names)}
    return tuple(sorted(fields, key=lambda field: order.get(field.steps[0], len(order))))


def _leaves(tree: Mapping) -> Iterator[_Leaf]:
    for entry in tree.entries:
        if entry.key == "stacks" and isinstance(entry.value, Sequence):
            for stack in entry.value.items:
                if isinstance(stack, Mapping):
                    yield from _stack(stack)
        elif entry.key != "ledger":
            for leaf in _parts(entry.value, ()):
                if not (is_null(leaf.node) and leaf.node.mark.written[0] in _ABSENT_IF_NULL):
                    yield leaf


def _stack(stack: Mapping) -> Iterator[_Leaf]:
    name = stack.word("name") or ""
    types = stack.mapping("types")
    for key in ("n_layers", "pattern", "final_norm"):
        value = stack.get(key)
        if value is not None and not (key == "pattern" and types.keys == (ONLY_TYPE,)):
            for leaf in _parts(value, (key,)):
                yield _Leaf(leaf.node, leaf.relative, name)
    for entry in types.entries:
        if isinstance(entry.value, Mapping):
            for part in PARTS:
                value = entry.value.get(part)
                if value is not None and value.mark.written:
                    for leaf in _parts(value, (part,)):
                        yield _Leaf(leaf.node, leaf.relative, name, entry.key)


def _parts(node: Node, path: SpecPath) -> Iterator[_Leaf]:
    """The leaves; and a mapping where all in it came from elsewhere: that it is there counts."""
    for inner in _mappings(node):
        own = inner.mark.written
        if inner.entries and all(_outside(leaf, own) for _, leaf in leaves(inner)):
            yield _Leaf(inner, path)
    for steps, leaf in leaves(node):
        yield _Leaf(leaf, (*path, *steps))


def _mappings(node: Node) -> Iterator[Mapping]:
    if isinstance(node, Mapping):
        yield node
        for entry in node.entries:
            yield from _mappings(entry.value)


def _outside(leaf: Node, path: SpecPath) -> bool:
    return leaf.mark.written[: len(path)] != path


def _paths(
    written: SpecPath, group: list[_Leaf], several: bool
) -> Iterator[tuple[SpecPath, _Leaf]]:
    """One path where all agree, else one for each stack or type that has a value of its own."""
    if len({_value(leaf.node) for leaf in group}) == 1:
        yield written, group[0]
        return
    for stack in dict.fromkeys(leaf.stack for leaf in group):
        own = [leaf for leaf in group if leaf.stack == stack]
        scope: SpecPath = (stack,) if several else ()
        if several and len({_value(leaf.node) for leaf in own}) == 1:
            yield (*scope, *own[0].relative), own[0]
        else:
            for leaf in own:
                yield (*scope, "layers", "types", leaf.type, *leaf.relative), leaf


def _value(node: Node) -> Value:
    if isinstance(node, Mapping):
        return True
    if isinstance(node, Sequence):
        return tuple(item.value for item in node.items if isinstance(item, Scalar))
    return node.value


def _field(path: SpecPath, node: Node, written: SpecPath, spec: Spec) -> EffectiveField:
    text = node.text if isinstance(node, Scalar) else ""
    key = entry_for(spec, path) or entry_for(spec, written)
    entry = spec.ledger[key] if key is not None else None
    mark = node.mark
    return EffectiveField(dotted(path), _value(node), mark.origin, mark.position, text, entry, key)


def entry_for(spec: Spec, path: SpecPath) -> str | None:
    """The ledger's key that covers a path: its own, or the nearest part above it."""
    for end in range(len(path), 0, -1):
        key = dotted(path[:end])
        if key in spec.ledger:
            return key
    return None
