"""What a person may write at each place, derived from the schema: fields, words, bounds and the
short forms. The schema says what a resolved spec is; this says what leads there. Checking, sugar,
defaults, the ledger and the JSON Schema for editors all walk these shapes, so that a word or a
bound has one home.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from functools import cache
from typing import Annotated, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from specc.spec import schema
from specc.spec.forms import (
    Anything as Anything,
)
from specc.spec.forms import (
    Constant as Constant,
)
from specc.spec.forms import (
    Field as Field,
)
from specc.spec.forms import (
    Flag as Flag,
)
from specc.spec.forms import (
    Items as Items,
)
from specc.spec.forms import (
    Leaf as Leaf,
)
from specc.spec.forms import (
    Name as Name,
)
from specc.spec.forms import (
    Options as Options,
)
from specc.spec.forms import (
    Real as Real,
)
from specc.spec.forms import (
    Record as Record,
)
from specc.spec.forms import (
    Run as Run,
)
from specc.spec.forms import (
    Shape as Shape,
)
from specc.spec.forms import (
    Table as Table,
)
from specc.spec.forms import (
    Text as Text,
)
from specc.spec.forms import (
    Variants as Variants,
)
from specc.spec.forms import (
    Whole as Whole,
)
from specc.spec.forms import (
    Words as Words,
)

_WRITTEN = {"class_name": "class"}
_NAMES: dict[tuple[str, str], Name] = {
    ("Spec", "name"): Name("file"),
    ("Spec", "class_name"): Name("class"),
    ("ClassifierHead", "name"): Name("output"),
}


@cache
def record_of(model: type[BaseModel]) -> Record:
    """The record of one schema class."""
    fields = tuple(_field(model, name, info) for name, info in model.model_fields.items())
    kinds = {type(field.shape) for field in fields}
    spread = len(fields) > 1 and (kinds == {Flag} or kinds == {Real})
    return Record(model.__name__, fields, spread)


def _field(model: type[BaseModel], name: str, info: FieldInfo) -> Field:
    annotation: object = info.annotation
    nullable = type(None) in get_args(annotation)
    shape: Shape = _shape(annotation, info.metadata)
    shape = _NAMES.get((model.__name__, name), shape)
    return Field(_WRITTEN.get(name, name), shape, nullable, info.default)


def _shape(annotation: object, metadata: Iterable[object] = ()) -> Shape:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _shape(arguments[0], arguments[1:])
    if origin is Literal:
        first = arguments[0]
        return Constant(first) if isinstance(first, int) else Words(arguments)
    if origin in (Union, types.UnionType):
        return _union([each for each in arguments if each is not type(None)], metadata)
    if origin is tuple:
        item = _shape(arguments[0])
        return Items(item, distinct=isinstance(item, Words))
    if origin is dict:
        return Table("path", _shape(arguments[1]))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return record_of(annotation)
    return _scalar(annotation, metadata)


def _union(options: list[object], metadata: Iterable[object]) -> Shape:
    if len(options) == 1:
        return _shape(options[0], metadata)
    if set(options) == {str, int, float, bool}:
        return Anything()
    shapes = tuple(_shape(option) for option in options)
    records = tuple(shape for shape in shapes if isinstance(shape, Record))
    if len(records) == len(shapes):
        return Variants(records)
    return Options(shapes)


def _scalar(annotation: object, metadata: Iterable[object]) -> Shape:
    if annotation is int:
        low, high, _, _ = _bounds(metadata)
        return Whole(0 if low is None else int(low), 2**31 - 1 if high is None else int(high))
    if annotation is float:
        return Real(*_bounds(metadata))
    if annotation is bool:
        return Flag()
    if annotation is str:
        return Text()
    raise TypeError(f"the schema has a type that no shape stands for: {annotation!r}")


def _bounds(metadata: Iterable[object]) -> tuple[float | None, float | None, bool, bool]:
    """Lowest and highest value, and whether each is itself left out."""
    low: float | None = None
    high: float | None = None
    low_open = high_open = False
    for item in metadata:
        for part in item.metadata if isinstance(item, FieldInfo) else (item,):
            match part:
                case object(ge=low):
                    pass
                case object(gt=low):
                    low_open = True
                case object(le=high):
                    pass
                case object(lt=high):
                    high_open = True
    return low, high, low_open, high_open


# The language as it is written.

_NORM = record_of(schema.Norm)
_POSITION = _shape(schema.Position)
_ATTENTION = _shape(schema.AnyAttention)
_FEED_FORWARD = _shape(schema.FeedForward)
_HEAD = _shape(schema.Head)


_OVERRIDE = Record("Override", (Field("at", Whole(0, 10_000)), Field("type", Name("type"))))


def _part_fields() -> tuple[Field, ...]:
    """The parts that a layer consists of: what base, stacks and layer types may all set."""
    attention = _ATTENTION
    return (
        Field("position", _POSITION),
        Field("norm", _NORM),
        Field("block", record_of(schema.Block)),
        Field("attention", attention),
        Field("cross_attention", attention),
        Field("feed_forward", _FEED_FORWARD),
    )


@cache
def layer_type() -> Record:
    """What a layer type may override."""
    return Record("LayerType", _part_fields())


@cache
def layers() -> Record:
    """What `layers:` holds."""
    fields = (
        Field("pattern", Items(Run())),
        Field("override", Items(_OVERRIDE)),
        Field("types", Table("type", layer_type())),
    )
    return Record("Layers", fields)


@cache
def stack() -> Record:
    """What `encoder:` and `decoder:` may override."""
    own = (Field("n_layers", _whole("d_model")), *_part_fields())
    return Record("StackPart", (*own, Field("layers", layers()), Field("final_norm", _NORM, True)))


def _whole(name: str) -> Shape:
    field = record_of(schema.Spec).field(name)
    if field is None:
        raise KeyError(name)
    return field.shape


@cache
def spec() -> Record:
    """The top level, in the order in which it reads best."""
    known = {field.name: field for field in record_of(schema.Spec).fields}
    first = ("specc", "name", "title", "class", "kind", "paper", "source")
    sizes = ("vocab_size", "d_model")
    words = (Field("style", Text()),)
    fields = (
        *(known[name] for name in first),
        *words,
        known["features"],
        known["outputs"],
        *(known[name] for name in sizes),
        Field("n_layers", _whole("d_model")),
        known["max_seq_len"],
        known["embedding"],
        *_part_fields(),
        Field("final_norm", _NORM, True),
        Field("head", Items(_HEAD, one=True)),
        known["dropout"],
        known["init"],
        Field("layers", layers()),
        Field("encoder", stack()),
        Field("decoder", stack()),
        known["ledger"],
    )
    return Record("Spec", fields)


def shape_at(shape: Shape, path: tuple[str, ...]) -> Shape | None:
    """The shape at a path through keys (list items are stepped over), or None where no field is."""
    for step in path:
        if isinstance(shape, Items):
            shape = shape.item
        if isinstance(shape, Options):
            inner = [each for each in shape.shapes if isinstance(each, Record)]
            shape = inner[0] if inner else shape
        match shape:
            case Variants():
                field = shape.any_kind.field(step)
            case Record():
                field = shape.field(step)
            case Table():
                field = Field(step, shape.value)
            case _:
                field = None
        if field is None:
            return None
        shape = field.shape
    return shape


def keys_of(shape: Shape | None) -> tuple[str, ...]:
    """The keys that may stand directly under that shape."""
    match shape:
        case Record():
            return shape.names
        case Variants():
            return shape.any_kind.names
        case Items(item=item):
            return keys_of(item)
        case Options(shapes=shapes):
            return tuple(key for each in shapes for key in keys_of(each))
        case _:
            return ()
