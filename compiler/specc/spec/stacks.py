"""Stacks: which there are, what each inherits, its pattern of layer types and its final norm."""

from __future__ import annotations

from dataclasses import replace

from specc.diagnostics import Diagnostic, did_you_mean, listed
from specc.spec import shapes
from specc.spec.check import problem
from specc.spec.fill import BaseNorm, fill, finish_norm, missing
from specc.spec.layer import LayerBuilder, part_shape, parts_of, size_nodes
from specc.spec.merge import merge, merge_mappings
from specc.spec.shapes import Field, Record
from specc.spec.sizes import Scope, settle
from specc.spec.tree import Entry, Mapping, Mark, Node, Scalar, Sequence, at, grow, is_null

ONLY_TYPE = "layer"
_STACKS = {
    "decoder": ("decoder",),
    "encoder": ("encoder",),
    "encoder_decoder": ("encoder", "decoder"),
    "features": ("encoder",),
}
_WITH_FINAL_NORM = ("pre", "sandwich", "post_sublayer")


def build_stacks(base: Mapping, kind: str, scope: Scope, problems: list[Diagnostic]) -> Node:
    """All stacks of a model of that kind, resolved, in order."""
    if kind != "encoder_decoder":
        problems += [
            problem(node, f"only an encoder_decoder has an `{name}:` of its own")
            for name in ("encoder", "decoder")
            for node in (base.get(name),)
            if node is not None
        ]
    names = _STACKS[kind]
    stacks = tuple(_StackBuilder(base, kind, name, scope, problems).build() for name in names)
    return Sequence(stacks, Mark(None, "derived", ()))


def sublayers_of(kind: str, stack: str) -> tuple[str, ...]:
    """The sublayers of a block that names none."""
    if kind == "features":
        return ("cross_attention", "feed_forward")
    if kind == "encoder_decoder" and stack == "decoder":
        return ("attention", "cross_attention", "feed_forward")
    return ("attention", "feed_forward")


class _StackBuilder:
    def __init__(
        self, base: Mapping, kind: str, name: str, scope: Scope, problems: list[Diagnostic]
    ) -> None:
        self._name = name
        self._kind = kind
        self._problems = problems
        own = base.mapping(name) if kind == "encoder_decoder" else Mapping((), base.mark)
        self._own = own
        self._tree = merge_mappings(parts_of(base), parts_of(own))
        self._layers = merge_mappings(base.mapping("layers"), own.mapping("layers"))
        self._final = merge(base.get("final_norm"), own.get("final_norm"))
        n_layers = own.get("n_layers") or base.get("n_layers")
        self._scope = scope.with_nodes({**size_nodes(self._tree), "n_layers": n_layers})
        self._n_layers = n_layers

    def build(self) -> Mapping:
        types = self._types()
        builder = LayerBuilder(self._kind, sublayers_of(self._kind, self._name), self._problems)
        built = tuple(
            Entry(name, builder.build(self._tree, override, self._scope), None)
            for name, override in types.items()
        )
        stack = Mapping((), self._own.mark)
        stack = stack.put("name", grow(self._name, Mark(None, "derived", ())))
        stack = stack.put("n_layers", self._count())
        stack = stack.put("pattern", self._pattern(types))
        stack = stack.put("types", Mapping(built, self._layers.mark.below("types")))
        return stack.put("final_norm", self._final_norm(built[0].value))

    def _count(self) -> Node:
        field = shapes.stack().field("n_layers")
        if self._n_layers is None or field is None:
            self._problems.append(missing(self._own, Field("n_layers", shapes.Whole(1, 1))))
            return Scalar(1, Mark(None, "default", ("n_layers",)))
        return settle(self._n_layers, field.shape, self._scope, self._problems)

    def _types(self) -> dict[str, Mapping]:
        found = {
            entry.key: entry.value
            for entry in self._layers.mapping("types").entries
            if isinstance(entry.value, Mapping)
        }
        return found or {ONLY_TYPE: Mapping((), self._own.mark)}

    def _pattern(self, types: dict[str, Mapping]) -> Node:
        pattern = self._layers.get("pattern")
        if not isinstance(pattern, Sequence) or not pattern.items:
            if len(types) > 1 or isinstance(pattern, Sequence):
                path = (*self._layers.mark.written, "pattern")
                message = f"layers.pattern must say how {listed(types, 'and')} follow each other"
                place = self._layers.mark.position
                self._problems.append(Diagnostic(path, message, "write [a, b, ...]", place))
            return grow([next(iter(types))], Mark(None, "default", ("layers", "pattern")))
        pattern = self._overridden(_unrolled(pattern))
        used = [item.value for item in pattern.items if isinstance(item, Scalar)]
        unknown = {str(i.value): i for i in pattern.items if isinstance(i, Scalar)}
        for name, item in unknown.items():
            if name not in types:
                hint = did_you_mean(name, types) or f"known: {listed(types, 'and')}"
                self._problems.append(problem(item, f"no layer type '{name}'", hint))
        self._problems += [
            problem(node, f"the pattern never uses the layer type '{name}'")
            for name, node in types.items()
            if name not in used
        ]
        return pattern

    def _overridden(self, pattern: Sequence) -> Sequence:
        """The pattern with single layers replaced, spelled out to all layers if any is."""
        override = self._layers.get("override")
        count = self._count()
        if not isinstance(override, Sequence) or not isinstance(count, Scalar):
            return pattern
        if not isinstance(count.value, int):
            return pattern
        items = [pattern.items[i % len(pattern.items)] for i in range(count.value)]
        for each in override.items:
            at_node = each.get("at") if isinstance(each, Mapping) else None
            name = each.get("type") if isinstance(each, Mapping) else None
            if not isinstance(at_node, Scalar) or not isinstance(name, Scalar):
                self._problems.append(problem(each, "an override needs `at` and `type`"))
            elif isinstance(at_node.value, int) and at_node.value < len(items):
                items[at_node.value] = name
            else:
                message = f"there is no layer {at_node.text}: they are 0 to {len(items) - 1}"
                self._problems.append(problem(at_node, message))
        return replace(pattern, items=tuple(items))

    def _final_norm(self, first: Node) -> Node:
        placement = at(first, ("block", "norm_placement"))
        wanted = self._final
        if wanted is None:
            mark = Mark(None, "default", ("final_norm",))
            has_one = isinstance(placement, Scalar) and placement.value in _WITH_FINAL_NORM
            wanted = Mapping((), mark) if has_one else Scalar(None, mark, "null")
        if not isinstance(wanted, Mapping) or is_null(wanted):
            return wanted
        shape = part_shape("norm")
        if not isinstance(shape, Record):
            raise TypeError("a norm is one record")
        norm = BaseNorm(self._tree.mapping("norm"), shape, self._problems)
        return finish_norm(fill(norm.start(wanted), shape, self._problems))


def _unrolled(pattern: Sequence) -> Sequence:
    """`{local: 5}` as local five times."""
    items: list[Node] = []
    for item in pattern.items:
        if isinstance(item, Mapping) and item.entries:
            name, count = item.entries[0].key, item.entries[0].value
            times = count.value if isinstance(count, Scalar) else 1
            items += [Scalar(name, item.mark, name)] * (times if isinstance(times, int) else 1)
        else:
            items.append(item)
    return replace(pattern, items=tuple(items))
