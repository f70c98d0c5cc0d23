"""The authored tree and the style -> the resolved tree that the schema describes.

The only file that knows the order of merging and the defaults that depend on the kind of model.
Parts, stacks and heads are built by their own modules; what is wrong is collected, not raised.
"""

from __future__ import annotations

from dataclasses import replace

from specc.diagnostics import Diagnostic, listed
from specc.spec import shapes
from specc.spec.check import problem
from specc.spec.fill import BaseNorm, fill, finish_norm, missing, set_default
from specc.spec.heads import build_heads, predicts_tokens
from specc.spec.layer import part_shape, size_nodes
from specc.spec.merge import merge_mappings
from specc.spec.shapes import Record, Shape
from specc.spec.sizes import Scope, settle
from specc.spec.stacks import build_stacks
from specc.spec.tree import Mapping, Mark, Node, Scalar, Sequence, at, grow, is_null

_GLOBAL_SIZES = ("vocab_size", "d_model", "n_layers", "max_seq_len")
_TABLES = ("sinusoidal", "learned", "rope")


def resolve(body: Mapping, style: Mapping, problems: list[Diagnostic]) -> Mapping:
    """Everything written out. When `problems` grew, the tree is not to be used."""
    kind = body.word("kind") or style.word("kind")
    if kind is None:
        problems.append(_no_kind(body))
        return body
    head_style = style.mapping("head")
    style = style.without("head")
    if kind != "encoder_decoder":
        style = style.without("embedding")
    base = merge_mappings(style, body)
    base = _with_kinds(replace(base, mark=body.mark))
    return _Resolver(base, kind, head_style, problems).run()


def _no_kind(body: Mapping) -> Diagnostic:
    field = shapes.spec().field("kind")
    if field is None:
        raise KeyError("kind")
    words = field.shape.words if isinstance(field.shape, shapes.Words) else ()
    hint = f"write `kind: ...` ({listed(words)}), or say it in `style:`"
    return replace(missing(body, field), hint=hint)


def _with_kinds(base: Mapping) -> Mapping:
    """Kinds that go without saying, so that an override with another kind replaces."""
    base = base.put("norm", set_default(base.mapping("norm"), "kind", "layer"))
    if isinstance(base.get("attention"), Mapping):
        attention = set_default(base.mapping("attention"), "kind", "multi_head")
        base = base.put("attention", attention)
    return base.put("feed_forward", set_default(base.mapping("feed_forward"), "kind", "mlp"))


class _Resolver:
    def __init__(
        self, base: Mapping, kind: str, head_style: Mapping, problems: list[Diagnostic]
    ) -> None:
        self._base = base
        self._kind = kind
        self._head_style = head_style
        self._problems = problems
        own = {name: base.get(name) for name in _GLOBAL_SIZES}
        self._scope = Scope({**own, **size_nodes(base)})

    def run(self) -> Mapping:
        tree = Mapping((), self._base.mark)
        for key in ("specc", "name", "title", "class", "kind", "paper", "source"):
            tree = self._copy(tree, key)
        tree = self._lists(tree)
        sizes = self._sizes()
        self._scope = self._scope.with_nodes(dict(sizes))
        for name in ("vocab_size", "d_model", "max_seq_len"):
            tree = tree.put(name, sizes.get(name) or self._nothing(name))
        tree = tree.put("embedding", self._embedding())
        stacks = build_stacks(self._base, self._kind, self._scope, self._problems)
        tree = tree.put("stacks", stacks)
        self._needs_length(stacks, sizes)
        self._has_sublayers(stacks)
        heads = build_heads(
            self._base, self._kind, self._head_style, self._norm(), self._scope, self._problems
        )
        tree = tree.put("heads", heads)
        for key in ("dropout", "init"):
            tree = tree.put(key, self._part(key))
        ledger = self._base.get("ledger")
        tree = tree.put("ledger", ledger or Mapping((), Mark(None, "default", ("ledger",))))
        return Mapping(
            tuple(replace(e, key="class_name") if e.key == "class" else e for e in tree.entries),
            tree.mark,
        )

    def _copy(self, tree: Mapping, key: str) -> Mapping:
        field = shapes.spec().field(key)
        value = self._base.get(key)
        if field is None or (value is None and field.has_default):
            return tree.put(key, self._nothing(key))
        if value is None:
            self._problems.append(missing(self._base, field))
            return tree
        value = settle(value, field.shape, self._scope, self._problems)
        if isinstance(value, Mapping) and isinstance(field.shape, Record):
            value = fill(value, field.shape, self._problems)
        return tree.put(key, value)

    def _nothing(self, key: str) -> Scalar:
        return Scalar(None, Mark(None, "default", (key,)), "null")

    def _lists(self, tree: Mapping) -> Mapping:
        for key, default in (("features", self._default_features()), ("outputs", [])):
            found = self._base.get(key)
            value = found if isinstance(found, Sequence) else None
            tree = tree.put(key, value or grow(default, Mark(None, "default", (key,))))
        return tree

    def _default_features(self) -> list[str]:
        """What the file can do unless the spec says otherwise."""
        if self._kind not in ("decoder", "encoder_decoder"):
            return []
        return ["cache", "generate"] if predicts_tokens(self._base, self._kind) else ["cache"]

    def _sizes(self) -> dict[str, Node]:
        found: dict[str, Node] = {}
        for name in _GLOBAL_SIZES:
            field = shapes.spec().field(name)
            node = self._base.get(name)
            if field is not None and node is not None and not is_null(node):
                found[name] = settle(node, field.shape, self._scope, self._problems)
        required = ["d_model"] if self._kind == "features" else ["vocab_size", "d_model"]
        for name in required:
            field = shapes.spec().field(name)
            if name not in found and field is not None:
                self._problems.append(missing(self._base, field))
        node = self._base.get("vocab_size")
        if self._kind == "features" and node is not None:
            self._problems.append(problem(node, "features come without a vocabulary"))
        return found

    def _norm(self) -> BaseNorm:
        shape = part_shape("norm")
        if not isinstance(shape, Record):
            raise TypeError("a norm is one record")
        return BaseNorm(self._base.mapping("norm"), shape, self._problems)

    def _embedding(self) -> Node:
        node = self._base.get("embedding")
        if self._kind == "features":
            if node is not None:
                self._problems.append(problem(node, "features come without an embedding"))
            return self._nothing("embedding")
        shape = self._shape("embedding")
        found = settle(self._base.mapping("embedding"), shape, self._scope, self._problems)
        if not isinstance(found, Mapping):
            return self._nothing("embedding")
        inner = found.get("norm")
        if isinstance(inner, Mapping):
            found = found.put("norm", self._norm().start(inner))
        filled = fill(found, shape, self._problems)
        inner = filled.get("norm")
        return filled.put("norm", finish_norm(inner)) if isinstance(inner, Mapping) else filled

    def _part(self, key: str) -> Mapping:
        node = self._base.mapping(key)
        if key == "init":
            node = set_default(node, "kind", "normal")
        return fill(node, self._shape(key), self._problems)

    def _shape(self, key: str) -> Record:
        field = shapes.spec().field(key)
        shape: Shape | None = field.shape if field is not None else None
        if not isinstance(shape, Record):
            raise KeyError(key)
        return shape

    def _needs_length(self, stacks: Node, sizes: dict[str, Node]) -> None:
        kinds = [at(layer, ("position", "kind")) for layer in _layers(stacks)]
        tables = [each for each in kinds if isinstance(each, Scalar) and each.value in _TABLES]
        if tables and "max_seq_len" not in sizes:
            field = shapes.spec().field("max_seq_len")
            if field is not None:
                found = missing(self._base, field)
                message = (
                    f"{found.message}: {tables[0].value} positions need a table of that length"
                )
                self._problems.append(replace(found, message=message))

    def _has_sublayers(self, stacks: Node) -> None:
        for name in ("cross_attention", "feed_forward"):
            node = self._base.get(name)
            if not isinstance(node, Mapping) or node.mark.origin != "body":
                continue
            if all(is_null(at(layer, (name,))) for layer in _layers(stacks)):
                hint = "block.sublayers lists what a block has"
                self._problems.append(problem(node, "no block has that sublayer", hint))


def _layers(stacks: Node) -> list[Node]:
    """Every layer type of every stack."""
    if not isinstance(stacks, Sequence):
        return []
    return [
        entry.value
        for stack in stacks.items
        if isinstance(stack, Mapping)
        for entry in stack.mapping("types").entries
    ]
