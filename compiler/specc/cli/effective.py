"""A loaded spec as a person would write it with nothing left out, each value with where it came from.

The text is itself a spec: it builds the same model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from specc.spec import LoadedSpec
from specc.spec.tree import Entry, Mapping, Mark, Node, Scalar, Sequence, is_null

_PARTS = ("position", "norm", "block", "attention", "cross_attention", "feed_forward")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./+ -]*")
_RESERVED = frozenset({"true", "false", "null", "True", "False", "Null", "TRUE", "FALSE", "NULL"})
_NOTE_COLUMN = 44


def effective_text(loaded: LoadedSpec) -> str:
    """The whole spec, one value a line, with a comment that says who set it."""
    return "\n".join(_lines(_as_written(loaded.resolved), 0))


def _as_written(resolved: Mapping) -> Mapping:
    """The resolved tree with its stacks and layer types back at the places where a person writes them."""
    stacks = [node for node in _items(resolved, "stacks") if isinstance(node, Mapping)]
    heads = _items(resolved, "heads")
    head = heads[0] if len(heads) == 1 else resolved.get("heads")
    entries = [
        Entry("class" if entry.key == "class_name" else entry.key, entry.value, None)
        for entry in resolved.entries
        if entry.key not in ("stacks", "heads", "ledger")
    ]
    if len(stacks) == 1:
        entries += _stack(stacks[0])
    else:
        entries += [
            Entry(stack.word("name") or "", Mapping(tuple(_stack(stack)), stack.mark), None)
            for stack in stacks
        ]
    if head is not None:
        entries.append(Entry("head", head, None))
    ledger = resolved.get("ledger")
    if isinstance(ledger, Mapping) and ledger.entries:
        entries.append(Entry("ledger", ledger, None))
    return Mapping(tuple(entries), resolved.mark)


def _items(node: Mapping, key: str) -> tuple[Node, ...]:
    found = node.get(key)
    return found.items if isinstance(found, Sequence) else ()


def _stack(stack: Mapping) -> Iterator[Entry]:
    """A stack's own fields; with one layer type its parts stand beside them, else under `layers`."""
    types = stack.mapping("types")
    for key in ("n_layers", "final_norm"):
        value = stack.get(key)
        if value is not None:
            yield Entry(key, value, None)
    if len(types.entries) == 1 and isinstance(types.entries[0].value, Mapping):
        yield from _parts(types.entries[0].value)
        return
    parts = tuple(
        Entry(entry.key, Mapping(tuple(_parts(entry.value)), entry.value.mark), None)
        for entry in types.entries
        if isinstance(entry.value, Mapping)
    )
    pattern = stack.get("pattern")
    if pattern is not None:
        layers = (Entry("pattern", pattern, None), Entry("types", Mapping(parts, types.mark), None))
        yield Entry("layers", Mapping(layers, stack.mark), None)


def _parts(layer: Mapping) -> Iterator[Entry]:
    for key in _PARTS:
        part = layer.get(key)
        if part is not None and not is_null(part):
            yield Entry(key, part, None)


def _lines(node: Mapping, depth: int) -> Iterator[str]:
    for entry in node.entries:
        yield from _entry("  " * depth + f"{_word(entry.key)}:", entry.value, depth)


def _entry(start: str, value: Node, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping) and value.entries:
        yield start
        yield from _lines(value, depth + 1)
    elif isinstance(value, Sequence) and any(isinstance(item, Mapping) for item in value.items):
        yield start
        for item in value.items:
            yield from _item(item, depth + 1)
    elif not isinstance(value, Mapping):
        yield f"{start} {_value(value):<{max(0, _NOTE_COLUMN - len(start))}}  # {_note(value.mark)}"


def _item(item: Node, depth: int) -> Iterator[str]:
    """One mapping of a list: its first line carries the dash."""
    if not isinstance(item, Mapping):
        yield "  " * depth + f"- {_value(item)}"
        return
    first, *rest = _lines(item, depth + 1)
    yield "  " * depth + "- " + first.lstrip()
    yield from rest


def _value(node: Node) -> str:
    if isinstance(node, Sequence):
        return f"[{', '.join(_value(item) for item in node.items)}]"
    value = node.value if isinstance(node, Scalar) else None
    return _word(value) if isinstance(value, str) else json.dumps(value)


def _word(text: str) -> str:
    """A text as YAML: bare when no reader could take it for anything else."""
    is_bare = _PLAIN.fullmatch(text) and text not in _RESERVED and text == text.strip()
    return text if is_bare else json.dumps(text, ensure_ascii=False)


def _note(mark: Mark) -> str:
    match mark.origin:
        case "body":
            return f"line {mark.position.line}" if mark.position else "the spec"
        case "style":
            return "from style"
        case origin:
            return origin
