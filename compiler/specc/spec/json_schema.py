"""A JSON Schema (draft 2020-12) of what a person may write, short forms included, for editors.

Made from the shapes, with each field's meaning from the documentation, so that yaml-language-
server completes and explains it. It accepts partial specs: what is required depends on the style,
and `specc` itself says that best.
"""

from __future__ import annotations

from typing import Any

from specc.spec import shapes
from specc.spec.docs import meaning_of
from specc.spec.expressions import SIZES
from specc.spec.shapes import (
    Anything,
    Constant,
    Field,
    Flag,
    Items,
    Leaf,
    Name,
    Options,
    Real,
    Record,
    Run,
    Shape,
    Table,
    Text,
    Variants,
    Whole,
    Words,
)
from specc.spec.style import TABLE

_ARITHMETIC = rf"^[\s0-9()+*/_-]*(({'|'.join(SIZES)})[\s0-9()+*/_-]*)+$"


def json_schema() -> dict[str, Any]:
    """The schema of a spec file."""
    definitions: dict[str, Any] = {}
    top = _record(shapes.spec(), "", definitions)
    top["required"] = ["specc", "name"]
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "specc spec",
        "description": "Every architectural choice of a transformer, for specc to compile.",
    }
    return {**head, **top, "$defs": dict(sorted(definitions.items()))}


def _of(shape: Shape, path: str, definitions: dict[str, Any]) -> dict[str, Any]:
    match shape:
        case Items():
            return _items(shape, path, definitions)
        case Record():
            return _shared(shape, path, definitions)
        case Variants():
            return _variants(shape, path, definitions)
        case Options(shapes=options):
            return _any([_of(option, path, definitions) for option in options])
        case Table():
            values = _of(shape.value, path if shape.keys == "path" else "", definitions)
            return {"type": "object", "additionalProperties": values}
        case _:
            return _leaf(shape)


def _leaf(shape: Leaf) -> dict[str, Any]:
    match shape:
        case Words(words):
            return {"enum": list(words)}
        case Whole():
            return _whole(shape)
        case Real():
            return _real(shape)
        case Flag():
            return {"type": "boolean"}
        case Text():
            return {"type": "string"}
        case Name():
            return {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]*$"}
        case Anything():
            return {"type": ["string", "number", "boolean"]}
        case Constant(value):
            return {"const": value}
        case Run(name, count):
            often = {"type": "object", "additionalProperties": _whole(count), "maxProperties": 1}
            return _any([_leaf(name), often])


def _any(options: list[dict[str, Any]]) -> dict[str, Any]:
    return options[0] if len(options) == 1 else {"anyOf": options}


def _whole(shape: Whole) -> dict[str, Any]:
    number: dict[str, Any] = {"type": "integer", "minimum": shape.low, "maximum": shape.high}
    arithmetic = {"type": "string", "pattern": _ARITHMETIC}
    return _any([number, arithmetic])


def _real(shape: Real) -> dict[str, Any]:
    number: dict[str, Any] = {"type": "number"}
    if shape.low is not None:
        number["exclusiveMinimum" if shape.low_open else "minimum"] = shape.low
    if shape.high is not None:
        number["exclusiveMaximum" if shape.high_open else "maximum"] = shape.high
    if shape.is_fraction:
        return _any([number, {"type": "string", "pattern": r"^[0-9.]+\s*%$"}])
    return number


def _items(shape: Items, path: str, definitions: dict[str, Any]) -> dict[str, Any]:
    item = _of(shape.item, path, definitions)
    many: dict[str, Any] = {"type": "array", "items": item}
    if shape.distinct:
        many["uniqueItems"] = True
    return _any([item, many]) if shape.one else many


def _shared(shape: Record, path: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """A reference to the record's definition, which all places that use it share."""
    key = shape.name
    if key not in definitions:
        definitions[key] = {}
        definitions[key] = _record(shape, path, definitions)
    options: list[dict[str, Any]] = [{"$ref": f"#/$defs/{key}"}]
    if shape.kinds:
        options.insert(0, {"enum": list(shape.kinds)})
    elif shape.spread:
        options.insert(0, _of(shape.fields[0].shape, path, definitions))
    return _any(options)


def _record(shape: Record, path: str, definitions: dict[str, Any]) -> dict[str, Any]:
    properties = {
        field.name: _field(field, f"{path}.{field.name}" if path else field.name, definitions)
        for field in shape.fields
    }
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _field(field: Field, path: str, definitions: dict[str, Any]) -> dict[str, Any]:
    found = _of(field.shape, path, definitions)
    options = found.get("anyOf", [found])
    if field.nullable or isinstance(field.shape, Record | Variants):
        options = [*options, {"type": "null"}]
        if field.nullable and _has_kind(field.shape):
            options = [*options, {"type": "boolean"}, {"const": "none"}]
    result = _any(options) if len(options) > 1 else dict(found)
    meaning = meaning_of(path)
    if meaning is not None:
        result = {"description": meaning, **result}
    if path == "style":
        result["examples"] = ["decoder, pre-norm, rms norm, rope, swiglu, no bias"]
        result["description"] = f"{result['description']} Words: {', '.join(TABLE)}."
    return result


def _has_kind(shape: Shape) -> bool:
    return isinstance(shape, Variants) or (isinstance(shape, Record) and bool(shape.kinds))


def _variants(shape: Variants, path: str, definitions: dict[str, Any]) -> dict[str, Any]:
    """A word, or a mapping with the fields of all kinds: an override may leave out its kind."""
    key = path.replace(".", "_") or shape.records[0].name
    if key not in definitions:
        definitions[key] = {}
        definitions[key] = _record(shape.any_kind, path, definitions)
        short = {kind: {"type": "object"} for kind in shape.kinds}
        definitions[key]["properties"] = {**definitions[key]["properties"], **short}
    return _any([{"enum": list(shape.kinds)}, {"$ref": f"#/$defs/{key}"}])
