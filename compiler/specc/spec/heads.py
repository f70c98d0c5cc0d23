"""The heads: a list, from one word or mapping or several, with what the style and the base norm
give them.
"""

from __future__ import annotations

from specc.diagnostics import Diagnostic
from specc.spec import shapes
from specc.spec.fill import BaseNorm, fill, finish_norm, set_default
from specc.spec.merge import merge_mappings
from specc.spec.shapes import Items, Variants
from specc.spec.sizes import Scope, settle
from specc.spec.tree import Mapping, Mark, Node, Sequence

_BY_KIND = {
    "decoder": "language_model",
    "encoder_decoder": "language_model",
    "encoder": "features",
    "features": "features",
}


def build_heads(
    base: Mapping,
    kind: str,
    style: Mapping,
    norm: BaseNorm,
    scope: Scope,
    problems: list[Diagnostic],
) -> Sequence:
    """All heads, resolved. The style's words on tying go to every head that can be tied."""
    shape = _shape()
    written = base.get("head")
    items: tuple[Node, ...] = (Mapping((), Mark(None, "default", ("head",))),)
    if isinstance(written, Sequence):
        items = written.items
    heads = [_start(item, kind, shape, norm) for item in items if isinstance(item, Mapping)]
    tieable = [_can_tie(head, shape) for head in heads]
    if style.entries and not any(tieable):
        place = style.entries[0].value.mark.position
        message = "the style speaks of tied or untied weights, but no head has a matrix to tie"
        problems.append(Diagnostic(("style",), message, None, place))
    found = []
    for head, can_tie in zip(heads, tieable, strict=True):
        if can_tie:
            head = Mapping(merge_mappings(style, head).entries, head.mark)
        settled = settle(head, shape, scope, problems)
        filled = fill(settled if isinstance(settled, Mapping) else head, shape, problems)
        inner = filled.get("norm")
        found.append(
            filled.put("norm", finish_norm(inner)) if isinstance(inner, Mapping) else filled
        )
    return Sequence(tuple(found), Mark(None, "derived", ("head",)))


def predicts_tokens(base: Mapping, kind: str) -> bool:
    """Whether one of the heads is a language model."""
    written = base.get("head")
    if not isinstance(written, Sequence):
        return _BY_KIND[kind] == "language_model"
    kinds = [item.word("kind") for item in written.items if isinstance(item, Mapping)]
    return "language_model" in [word or _BY_KIND[kind] for word in kinds]


def _shape() -> Variants:
    field = shapes.spec().field("head")
    if field is None or not isinstance(field.shape, Items):
        raise KeyError("head")
    if not isinstance(field.shape.item, Variants):
        raise TypeError("a head has kinds")
    return field.shape.item


def _start(head: Mapping, kind: str, shape: Variants, norm: BaseNorm) -> Mapping:
    head = set_default(head, "kind", _BY_KIND[kind])
    record = shape.record(head.word("kind"))
    if record is None or record.field("norm") is None:
        return head
    own = head.get("norm")
    empty = Mapping((), Mark(None, "default", (*head.mark.written, "norm")))
    return head.put("norm", norm.start(own if isinstance(own, Mapping) else empty))


def _can_tie(head: Mapping, shape: Variants) -> bool:
    record = shape.record(head.word("kind"))
    return record is not None and record.field("tied") is not None
