"""A loaded spec as a person would write it with nothing left out, each value with where it came
from.

The text is itself a spec: it builds the same model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from specc.diagnostics import SpecPath
from specc.spec import LoadedSpec, shapes
from specc.spec.effective import entry_for
from specc.spec.schema import Spec
from specc.spec.tree import Entry, Mapping, Mark, Node, Scalar, Sequence, is_null

_PARTS = ("position", "norm", "block", "attention", "cross_attention", "feed_forward")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./+ -]*")
_RESERVED = frozenset({"true", "false", "null", "True", "False", "Null", "TRUE", "FALSE", "NULL"})
_NOTE_COLUMN = 44


def effective_text(loaded: LoadedSpec) -> str:
    """The whole spec, one value a line, with a comment that says who set it."""
    return "\n".join(_Text(loaded.spec).lines(_as_written(loaded.resolved), 0))


def _as_written(resolved: Mapping) -> Mapping:
    """The resolved tree with stacks and layer types back where a person writes them."""
    stacks = [node for node in _items(resolved, "stacks") if isinstance(node, Mapping)]
    heads = _items(resolved, "heads")
    head = heads[0] if len(heads) == 1 else resolved.get("heads")
    entries = [
        Entry("class" if entry.key == "class_name" else entry.key, entry.value, None)
        for entry in resolved.entries
        if entry.key not in ("stacks", "heads", "ledger") and not is_null(entry.value)
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
    order = shapes.spec().names
    return Mapping(tuple(sorted(entries, key=lambda entry: order.index(entry.key))), resolved.mark)


def _items(node: Mapping, key: str) -> tuple[Node, ...]:
    found = node.get(key)
    return found.items if isinstance(found, Sequence) else ()


def _stack(stack: Mapping) -> Iterator[Entry]:
    """A stack's own fields; a single layer type's parts stand beside them, else under `layers`."""
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


class _Text:
    """Prints a tree as YAML; the spec's ledger has a word in the comments."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec

    def lines(self, node: Mapping, depth: int) -> Iterator[str]:
        """The lines of a mapping."""
        for entry in node.entries:
            yield from self._entry("  " * depth + f"{_word(entry.key)}:", entry.value, depth)

    def _entry(self, start: str, value: Node, depth: int) -> Iterator[str]:
        if isinstance(value, Mapping) and value.entries:
            yield start
            yield from self.lines(value, depth + 1)
        elif isinstance(value, Sequence) and any(isinstance(i, Mapping) for i in value.items):
            yield start
            for item in value.items:
                yield from self._item(item, depth + 1)
        elif not isinstance(value, Mapping):
            column = max(0, _NOTE_COLUMN - len(start))
            yield f"{start} {_value(value):<{column}}  # {self._note(value.mark)}"

    def _item(self, item: Node, depth: int) -> Iterator[str]:
        """One item of a list; a mapping's first line carries the dash."""
        if not isinstance(item, Mapping):
            yield "  " * depth + f"- {_value(item)}"
            return
        first, *rest = self.lines(item, depth + 1)
        yield "  " * depth + "- " + first.lstrip()
        yield from rest

    def _note(self, mark: Mark) -> str:
        """Who set the value, and what the ledger says about it."""
        origin: str = mark.origin
        if mark.origin == "body":
            origin = f"line {mark.position.line}" if mark.position else "the spec"
        elif mark.origin == "style":
            origin = "from style"
        account = self._account(mark.written)
        return f"{origin}; {account}" if account else origin

    def _account(self, path: SpecPath) -> str:
        key = entry_for(self._spec, path) if path[:1] != ("ledger",) else None
        if key is None:
            return ""
        entry = self._spec.ledger[key]
        status = entry.status.replace("_", " ")
        return f"{status} ({entry.at})" if entry.at else status


def _value(node: Node) -> str:
    if isinstance(node, Sequence):
        return f"[{', '.join(_value(item) for item in node.items)}]"
    value = node.value if isinstance(node, Scalar) else None
    return _word(value) if isinstance(value, str) else json.dumps(value)


def _word(text: str) -> str:
    """A text as YAML: bare when no reader could take it for anything else."""
    is_bare = _PLAIN.fullmatch(text) and text not in _RESERVED and text == text.strip()
    return text if is_bare else json.dumps(text, ensure_ascii=False)
