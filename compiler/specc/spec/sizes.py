"""Arithmetic in a tree -> whole numbers. A scope knows what each size's name is worth where the
text stands.
"""

from __future__ import annotations

from collections.abc import Mapping as Dict
from dataclasses import replace

from specc.diagnostics import Diagnostic
from specc.spec.check import out_of_bounds, problem
from specc.spec.expressions import ExpressionError, evaluate
from specc.spec.shapes import Items, Options, Record, Shape, Variants, Whole
from specc.spec.tree import Mapping, Node, Scalar, Sequence


class Scope:
    """Names of sizes and the nodes that define them; a node may be arithmetic over other names."""

    def __init__(self, nodes: Dict[str, Node | None]) -> None:
        self._nodes = nodes
        self._known: dict[str, int] = {}
        self._asked: list[str] = []

    def value(self, name: str) -> int:
        """What the name is worth. Raises ExpressionError for a name that nothing defines."""
        if name in self._known:
            return self._known[name]
        if name in self._asked:
            circle = " -> ".join([*self._asked[self._asked.index(name) :], name])
            raise ExpressionError(f"sizes that rest on each other: {circle}")
        self._asked.append(name)
        try:
            self._known[name] = self._resolve(name)
        finally:
            self._asked.pop()
        return self._known[name]

    def _resolve(self, name: str) -> int:
        node = self._nodes.get(name)
        number = node.value if isinstance(node, Scalar) else None
        if isinstance(number, str):
            return evaluate(number, self.value)
        if isinstance(number, int) and not isinstance(number, bool):
            return number
        if name == "n_kv_heads":
            return self.value("n_heads")
        if name == "head_dim":
            return evaluate("d_model / n_heads", self.value)
        raise ExpressionError(f"'{name}' has no value here")

    def with_nodes(self, nodes: Dict[str, Node | None]) -> Scope:
        """The same scope with other definitions for some names."""
        return Scope({**self._nodes, **{name: node for name, node in nodes.items() if node}})


def settle(node: Node, shape: Shape, scope: Scope, problems: list[Diagnostic]) -> Node:
    """The tree with every arithmetic text under `shape` replaced by its value."""
    match shape:
        case Whole() if isinstance(node, Scalar) and isinstance(node.value, str):
            return _evaluate(node, shape, scope, problems)
        case Record() if isinstance(node, Mapping):
            return _fields(node, shape, scope, problems)
        case Variants() if isinstance(node, Mapping):
            record = shape.record(node.word("kind")) or shape.any_kind
            return _fields(node, record, scope, problems)
        case Options(shapes=options) if isinstance(node, Mapping):
            inner = next((each for each in options if isinstance(each, Record)), None)
            return _fields(node, inner, scope, problems) if inner else node
        case Items(item=item) if isinstance(node, Sequence):
            items = tuple(settle(each, item, scope, problems) for each in node.items)
            return replace(node, items=items)
        case _:
            return node


def _fields(node: Mapping, record: Record, scope: Scope, problems: list[Diagnostic]) -> Mapping:
    entries = []
    for entry in node.entries:
        field = record.field(entry.key)
        value = settle(entry.value, field.shape, scope, problems) if field else entry.value
        entries.append(replace(entry, value=value))
    return replace(node, entries=tuple(entries))


def _evaluate(node: Scalar, shape: Whole, scope: Scope, problems: list[Diagnostic]) -> Scalar:
    text = str(node.value)
    try:
        number = evaluate(text, scope.value)
    except ExpressionError as error:
        problems.append(problem(node, str(error), error.hint))
        return replace(node, value=shape.low)
    message = out_of_bounds(number, shape)
    if message is not None:
        problems.append(problem(node, f"{message} ({text})"))
    return replace(node, value=number)
