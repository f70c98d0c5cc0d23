"""One layer type of one stack: its parts merged, its sizes worked out, its defaults filled in."""

from __future__ import annotations

from specc.diagnostics import Diagnostic, dotted
from specc.spec import shapes
from specc.spec.check import expected
from specc.spec.expressions import ExpressionError
from specc.spec.fill import BaseNorm, fill, finish_norm, set_default
from specc.spec.merge import merge, merge_mappings
from specc.spec.shapes import Record, Shape, Variants
from specc.spec.sizes import Scope, settle
from specc.spec.tree import Mapping, Mark, Node, Scalar, Sequence, grow, is_null

PARTS = ("position", "norm", "block", "attention", "cross_attention", "feed_forward")
_ATTENTION_SIZES = ("n_heads", "n_kv_heads", "head_dim")


def part_shape(name: str) -> Record | Variants:
    """The shape of a part of a layer."""
    field = shapes.layer_type().field(name)
    if field is None or not isinstance(field.shape, Record | Variants):
        raise KeyError(name)
    return field.shape


def parts_of(tree: Mapping) -> Mapping:
    """The parts that a level (base, stack, layer type) sets."""
    entries = tuple(entry for entry in tree.entries if entry.key in PARTS)
    return Mapping(entries, tree.mark)


def size_nodes(parts: Mapping, attention: str = "attention") -> dict[str, Node | None]:
    """The nodes that define the sizes a layer names itself."""
    own = parts.mapping(attention)
    nodes = {name: own.get(name) for name in _ATTENTION_SIZES}
    return {**nodes, "d_ff": parts.mapping("feed_forward").get("d_ff")}


class LayerBuilder:
    """Builds layer types; collects what is wrong with them."""

    def __init__(self, kind: str, sublayers: tuple[str, ...], problems: list[Diagnostic]) -> None:
        self._kind = kind
        self._sublayers = sublayers  # what a block of this stack has when none says
        self._problems = problems

    def build(self, stack: Mapping, override: Mapping, scope: Scope) -> Mapping:
        """The resolved layer type: all six parts, null where its block has no such sublayer."""
        parts = merge_mappings(parts_of(stack), parts_of(override))
        block = self._block(parts)
        sublayers = _words(block.get("sublayers"))
        if is_null(parts.get("attention")):
            parts = parts.without("attention")
        scope = scope.with_nodes(size_nodes(parts))
        norm = BaseNorm(self._settled(parts, "norm", scope), _record("norm"), self._problems)
        attention, cross = self._attentions(parts, sublayers, scope, norm)
        nothing = Scalar(None, Mark(None, "default", ()), "null")
        layer = Mapping((), stack.mark)
        layer = layer.put("block", block).put("norm", norm.full)
        layer = layer.put("attention", attention or nothing)
        layer = layer.put("cross_attention", cross or nothing)
        forward: Node = nothing
        if "feed_forward" in sublayers:
            forward = self._feed_forward(parts, scope)
        layer = layer.put("feed_forward", forward)
        return layer.put("position", self._position(parts, sublayers, scope))

    def _block(self, parts: Mapping) -> Mapping:
        block = set_default(parts.mapping("block"), "sublayers", list(self._sublayers))
        if block.get("norm_placement") is None:
            path = (*block.mark.written, "norm_placement")
            message = f"{dotted(path)} is missing, and has no default: where do the norms stand?"
            words = "pre, post, sandwich or post_sublayer"
            hint = f"write `block: {{norm_placement: ...}}` ({words}), or pre-norm, ... in `style:`"
            self._problems.append(Diagnostic(path, message, hint, block.mark.position))
            block = block.put("norm_placement", grow("pre", block.mark))
        return fill(block, part_shape("block"), self._problems)

    def _settled(self, parts: Mapping, name: str, scope: Scope) -> Mapping:
        node = settle(parts.mapping(name), part_shape(name), scope, self._problems)
        return node if isinstance(node, Mapping) else parts.mapping(name)

    def _attentions(
        self, parts: Mapping, sublayers: tuple[str, ...], scope: Scope, norm: BaseNorm
    ) -> tuple[Mapping | None, Mapping | None]:
        own = cross = None
        if "attention" in sublayers:
            own = self._attention(self._settled(parts, "attention", scope), scope, norm)
        if "cross_attention" in sublayers:
            over = parts.get("cross_attention")
            start = parts.mapping("attention")
            whole = merge(parts.get("attention"), None if is_null(over) else over)
            both = parts.put("cross_attention", whole or start)
            scope = scope.with_nodes(size_nodes(both, "cross_attention"))
            cross = self._attention(self._settled(both, "cross_attention", scope), scope, norm)
        return own, cross

    def _attention(self, node: Mapping, scope: Scope, norm: BaseNorm) -> Mapping:
        node = set_default(node, "kind", "multi_head")
        if node.word("kind") == "latent":
            node = fill(node, part_shape("attention"), self._problems)
            if is_null(node.get("norm_eps")) and norm.eps is not None:
                node = node.put("norm_eps", norm.eps)
            return node
        qk_norm = node.get("qk_norm")
        if isinstance(qk_norm, Mapping):
            node = node.put("qk_norm", norm.start(set_default(qk_norm, "kind", "rms")))
        node = fill(node, part_shape("attention"), self._problems)
        qk_norm = node.get("qk_norm")
        if isinstance(qk_norm, Mapping) and qk_norm.word("kind") != "l2":
            if is_null(qk_norm.get("eps")) and norm.eps is not None:
                qk_norm = qk_norm.put("eps", norm.eps)
            node = node.put("qk_norm", finish_norm(qk_norm))
        heads, width = _number(node.get("n_heads")), _number(_global(scope, "d_model"))
        if heads is not None:
            node = set_default(node, "n_kv_heads", heads, "derived")
        if heads and width and width % heads == 0:
            node = set_default(node, "head_dim", width // heads, "derived")
        return node

    def _feed_forward(self, parts: Mapping, scope: Scope) -> Mapping:
        node = self._settled(parts, "feed_forward", scope)
        return fill(node, part_shape("feed_forward"), self._problems)

    def _position(self, parts: Mapping, sublayers: tuple[str, ...], scope: Scope) -> Mapping:
        node = parts.get("position")
        if not isinstance(node, Mapping) or not node.entries:
            if self._kind == "features" or "attention" not in sublayers:
                return grow_mapping({"kind": "none"}, Mark(None, "default", ("position",)))
            shape: Shape = part_shape("position")
            words = expected(shapes.Words(shape.kinds)) if isinstance(shape, Variants) else ""
            path = (*parts.mark.written, "position")
            message = f"{dotted(path)} is missing, and has no default"
            self._problems.append(Diagnostic(path, message, f"write {words}"))
            return Mapping((), Mark(None, "default", ("position",)))
        return fill(self._settled(parts, "position", scope), part_shape("position"), self._problems)


def grow_mapping(value: dict[str, object], mark: Mark) -> Mapping:
    """`grow` of a dict."""
    node = grow(value, mark)
    if not isinstance(node, Mapping):
        raise TypeError("a dict grows a mapping")
    return node


def _record(name: str) -> Record:
    shape = part_shape(name)
    if not isinstance(shape, Record):
        raise TypeError(f"{name} has several kinds of record")
    return shape


def _words(node: Node | None) -> tuple[str, ...]:
    if not isinstance(node, Sequence):
        return ()
    return tuple(str(item.value) for item in node.items if isinstance(item, Scalar))


def _number(node: Node | int | None) -> int | None:
    value = node.value if isinstance(node, Scalar) else node
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _global(scope: Scope, name: str) -> int | None:
    try:
        return scope.value(name)
    except ExpressionError:
        return None
