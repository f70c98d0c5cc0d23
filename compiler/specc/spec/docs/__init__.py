"""What every field of the language means, as data, and how `specc explain FIELD` looks it up.

A field is documented once: what stands under a layer type or a stack is the base part's, cross-
attention's fields are attention's, and every norm's fields are those of `norm`, unless a place has
words of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from specc.diagnostics import did_you_mean
from specc.spec import shapes
from specc.spec.docs import (
    attention,
    blocks,
    experts,
    heads,
    model,
    positions,
    published,
    reach,
    stretching,
)
from specc.spec.docs.doc import Doc

_DOCS: dict[str, Doc] = {
    **model.DOCS,
    **attention.DOCS,
    **positions.DOCS,
    **blocks.DOCS,
    **experts.DOCS,
    **heads.DOCS,
    **published.DOCS,
    **reach.DOCS,
    **stretching.DOCS,
}


@dataclass(frozen=True)
class FieldDoc:
    """Everything `specc explain FIELD` prints. `type` says what may be written, in words."""

    path: str
    meaning: str
    type: str
    default: str
    source: str
    mistakes: tuple[str, ...]
    check: str
    elsewhere: str
    fields: tuple[str, ...]  # what may stand below it


class UnknownFieldError(KeyError):
    """No field has that path; `hint` may name one that is close."""

    def __init__(self, path: str, hint: str | None) -> None:
        super().__init__(path)
        self.path = path
        self.hint = hint

    def __str__(self) -> str:
        return f"no field is called '{self.path}'" + (f"; {self.hint}" if self.hint else "")


def field_doc(path: str) -> FieldDoc:
    """The documentation of a field by its path (`attention.scale`). Raises UnknownFieldError."""
    steps = tuple(step for step in re.sub(r"\[\d*\]", "", path.strip()).split(".") if step)
    steps = _homes(steps)
    shape = shapes.shape_at(shapes.spec(), steps) if steps else None
    if steps[:1] == ("ledger",) and len(steps) == 2:
        shape = shapes.shape_at(shapes.spec(), ("ledger", "any", steps[1]))
    name = ".".join(steps)
    doc = _doc(steps)
    if shape is None or doc is None:
        raise UnknownFieldError(path, did_you_mean(name, paths()))
    return FieldDoc(
        name,
        doc.meaning,
        _switch(_field(steps)) + describe(shape),
        _default(steps),
        doc.source,
        doc.mistakes,
        doc.check,
        doc.elsewhere,
        shapes.keys_of(shape),
    )


def meaning_of(path: str) -> str | None:
    """A field's meaning in one text, or None for a path that has no words of its own."""
    doc = _doc(tuple(path.split(".")))
    return doc.meaning if doc is not None else None


def paths() -> tuple[str, ...]:
    """Every field path of the language, layer types and stacks apart."""
    return tuple(dict.fromkeys(".".join(path) for path in _walk(shapes.spec(), ())))


def _walk(shape: shapes.Shape, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    match shape:
        case shapes.Items(item=item):
            yield from _walk(item, path)
        case shapes.Variants():
            yield from _walk(shape.any_kind, path)
        case shapes.Options(shapes=options):
            for option in options:
                yield from _walk(option, path)
        case shapes.Table(keys="path", value=value):
            yield from _walk(value, path)
        case shapes.Record():
            for field in shape.fields:
                yield (*path, field.name)
                if field.name not in ("encoder", "decoder"):
                    yield from _walk(field.shape, (*path, field.name))


def _homes(steps: tuple[str, ...]) -> tuple[str, ...]:
    """A single word that is the last step of one path only stands for that path: `theta`."""
    if len(steps) != 1 or steps[0] in shapes.spec().names:
        return steps
    found = [path for path in paths() if path.split(".")[-1] == steps[0]]
    shortest = min(found, key=len, default="")
    own = [path for path in found if path == shortest or not path.startswith("cross_")]
    return tuple(shortest.split(".")) if len(own) == 1 else steps


def _doc(steps: tuple[str, ...]) -> Doc | None:
    if steps[:1] in (("encoder",), ("decoder",)) and len(steps) > 1:
        return _doc(steps[1:])
    if steps[:2] == ("layers", "types") and len(steps) > 3:
        return _doc(steps[3:])
    name = ".".join(steps)
    if name in _DOCS:
        return _DOCS[name]
    if steps[0] == "cross_attention":
        return _doc(("attention", *steps[1:]))
    for i, step in enumerate(steps):
        if step in ("norm", "final_norm") and i + 1 < len(steps) and steps[: i + 1] != ("norm",):
            return _doc(("norm", *steps[i + 1 :]))
    return None


def _switch(field: shapes.Field | None) -> str:
    """The words that turn a part on or off that may be absent."""
    if field is None or not field.nullable:
        return ""
    if isinstance(field.shape, shapes.Record) and field.shape.kinds:
        return "true | false | "
    return "none | " if isinstance(field.shape, shapes.Variants) else ""


def describe(shape: shapes.Shape) -> str:
    """What may be written there, in words."""
    match shape:
        case shapes.Items(item=item, one=one):
            return f"{describe(item)}, or a list of them" if one else f"list of {describe(item)}"
        case shapes.Variants():
            return " | ".join(shape.kinds) + ", or a mapping with that kind"
        case shapes.Record():
            return _describe_record(shape)
        case shapes.Options(shapes=options):
            return " | ".join(describe(option) for option in options)
        case shapes.Table():
            return "mapping"
        case _:
            return _describe_leaf(shape)


def _describe_record(shape: shapes.Record) -> str:
    if shape.kinds:
        return " | ".join(shape.kinds) + ", or a mapping"
    if shape.spread:
        return f"{describe(shape.fields[0].shape)} for all, or a mapping"
    return f"{{{shape.fields[0].name}: ...}}" if len(shape.fields) == 1 else "mapping"


def _describe_leaf(shape: shapes.Leaf) -> str:
    match shape:
        case shapes.Words(words):
            return " | ".join(words)
        case shapes.Whole(low, _):
            return f"whole number from {low}, or arithmetic over sizes"
        case shapes.Real():
            return "number" + _bounds(shape)
        case shapes.Constant(value):
            return str(value)
        case _:
            return _LEAVES[type(shape)]


_LEAVES: dict[type, str] = {
    shapes.Flag: "true | false",
    shapes.Name: "name",
    shapes.Text: "text",
    shapes.Anything: "any one value",
    shapes.Run: "name, or {name: how often}",
}


def _bounds(shape: shapes.Real) -> str:
    parts = []
    if shape.low is not None:
        parts.append(f"{'above' if shape.low_open else 'from'} {shape.low:g}")
    if shape.high is not None:
        parts.append(f"{'below' if shape.high_open else 'to'} {shape.high:g}")
    return f" {' '.join(parts)}" if parts else ""


_CONTEXT = {
    "final_norm": "true, unless block.norm_placement is post",
    "head": "language_model (decoder, encoder_decoder), features (encoder, features)",
    "head.kind": "language_model (decoder, encoder_decoder), features (encoder, features)",
    "head.bias": "false (language_model), true (masked_language_model, classifier)",
    "head.norm": "the base norm",
    "features": "[cache, generate] (decoder and encoder_decoder with a language model), [] (else)",
    "norm.kind": "layer",
    "norm.bias": "true (layer with a weight), false (else)",
    "norm.cast": "native (layer), before_weight (rms)",
    "block.sublayers": "[attention, feed_forward]; with cross_attention where there is a memory",
    "position": "none (features); else it must be said",
    "position.kind": "none (features); else it must be said",
    "position.layout": "interleaved (sinusoidal), half (rope)",
    "max_seq_len": "none; needed where a position needs a table",
    "vocab_size": "none (features); else it must be said",
    "attention.n_kv_heads": "n_heads",
    "attention.head_dim": "d_model / n_heads",
    "attention.qk_norm.kind": "rms",
    "attention.qk_norm.eps": "the base norm's; l2: 1e-12",
    "cross_attention": "as attention",
    "title": "from `name`",
    "class": "CamelCase of `name`",
    "init.kind": "normal",
    "layers.pattern": "the only type",
}


def _default(steps: tuple[str, ...]) -> str:
    """The default in words; empty where there is none, or where the parts below have their own."""
    name = ".".join(steps)
    if name in _CONTEXT:
        return _CONTEXT[name]
    inherited = _inherited(steps)
    if inherited is not None:
        return inherited
    field = _field(steps)
    if field is None or not field.has_default:
        return ""
    return "" if isinstance(field.default, BaseModel) else _shown(field.default)


def _inherited(steps: tuple[str, ...]) -> str | None:
    """What a part starts from that is partial by nature."""
    if steps[0] == "cross_attention":
        return f"as {'.'.join(('attention', *steps[1:]))}"
    starts = {step for step in steps[:-1] if step in ("norm", "final_norm", "qk_norm")}
    if steps[:1] != ("norm",) and starts and steps[-1] in ("kind", "eps", "weight", "bias", "cast"):
        return f"as norm.{steps[-1]}"
    return None


def _field(steps: tuple[str, ...]) -> shapes.Field | None:
    parent = shapes.shape_at(shapes.spec(), steps[:-1])
    if isinstance(parent, shapes.Items):
        parent = parent.item
    if isinstance(parent, shapes.Variants):
        parent = parent.any_kind
    return parent.field(steps[-1]) if isinstance(parent, shapes.Record) else None


def _shown(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case float():
            return f"{value:g}".replace("e-0", "e-")
        case () | {}:
            return "empty"
        case _:
            return str(value)
