"""Does a tree hold only what the language knows? Walks the authored tree along its shape and gives
every unknown key, misspelt word, wrong type and number out of bounds. What is missing may come yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics import Diagnostic, Position, did_you_mean, dotted, listed
from specc.spec.misplaced import where_it_belongs
from specc.spec.names import Role, why_not, why_not_text
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
from specc.spec.tree import Entry, Mapping, Node, Scalar, Sequence, is_null

_OLD_TRUTH = {"on": "true", "yes": "true", "y": "true", "off": "false", "no": "false", "n": "false"}
_OVERRIDES = ("encoder", "decoder", "layers")


def check(node: Node, shape: Shape) -> Iterator[Diagnostic]:
    """Every problem of the tree, in order of the tree."""
    match shape:
        case Items():
            yield from _items(node, shape)
        case Record():
            yield from _record(node, shape)
        case Variants():
            yield from _variants(node, shape)
        case Options():
            yield from _options(node, shape)
        case Table():
            yield from _table(node, shape)
        case Run():
            yield from _run(node, shape)
        case _:
            yield from _leaf(node, shape)


def problem(node: Node, message: str, hint: str | None = None) -> Diagnostic:
    """A diagnostic about a node, its path before the message."""
    path = node.mark.written
    text = f"{dotted(path)}: {message}" if path else message
    return Diagnostic(path, text, hint, node.mark.position)


def shown(node: Node) -> str:
    """What stands there, as an error message names it."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    if node.value is None:
        return "nothing"
    if isinstance(node.value, bool) or not isinstance(node.value, str):
        return node.text or str(node.value).lower()
    text = node.value if len(node.value) <= 40 else f"{node.value[:37]}..."
    return f"'{text}'"


def _leaf(node: Node, shape: Leaf) -> Iterator[Diagnostic]:
    if not isinstance(node, Scalar):
        yield problem(node, f"must be {expected(shape)}, not {shown(node)}")
        return
    match shape:
        case Words(words):
            yield from _word(node, words)
        case Whole():
            yield from _whole(node, shape)
        case Real():
            yield from _real(node, shape)
        case Name(role):
            yield from _name(node, role)
        case Text():
            yield from _text(node)
        case Flag() | Constant() | Anything():
            yield from _exact(node, shape)


def _exact(node: Scalar, shape: Flag | Constant | Anything) -> Iterator[Diagnostic]:
    match shape:
        case Flag() if not isinstance(node.value, bool):
            yield problem(node, f"must be true or false, not {shown(node)}", _old_truth(node))
        case Constant(value) if isinstance(node.value, bool) or node.value != value:
            yield problem(node, f"must be {value}, not {shown(node)}")
        case Anything() if isinstance(node.value, str):
            yield from _text(node)


def expected(shape: Shape) -> str:
    """What a shape wants, in words."""
    match shape:
        case Words(words):
            return f"one of {listed(words)}"
        case Constant(value):
            return str(value)
        case Options(shapes=options):
            return listed([expected(option) for option in options])
        case _:
            return _EXPECTED.get(type(shape), "a mapping")


_EXPECTED: dict[type, str] = {
    Whole: "a whole number",
    Real: "a number",
    Flag: "true or false",
    Text: "a text",
    Name: "a name",
    Items: "a list",
    Run: "a layer type, or {layer type: how often}",
}


def _old_truth(node: Scalar) -> str | None:
    word = node.value.lower() if isinstance(node.value, str) else ""
    if word in _OLD_TRUTH:
        return f"write {_OLD_TRUTH[word]}: in YAML 1.2 '{node.value}' is a word"
    return None


def _word(node: Scalar, words: tuple[str, ...]) -> Iterator[Diagnostic]:
    if node.value not in words or not isinstance(node.value, str):
        message = f"must be {expected(Words(words))}, not {shown(node)}"
        yield problem(node, message, did_you_mean(str(node.value), words))


def _whole(node: Scalar, shape: Whole) -> Iterator[Diagnostic]:
    match node.value:
        case bool() | None:
            yield problem(node, f"must be a whole number, not {shown(node)}")
        case float() as number:
            if not number.is_integer() or "e" not in node.text.lower():
                hint = f"write {number:.0f}" if number.is_integer() else None
                yield problem(node, f"must be a whole number, not {node.text}", hint)
            else:
                yield from _in_bounds(node, int(number), shape)
        case int() as number:
            yield from _in_bounds(node, number, shape)
        case str() as text:
            stripped = text.strip().lstrip("+-")
            if stripped.lower() in _OLD_TRUTH:
                yield problem(node, f"must be a whole number, not '{text}'")
            elif node.quoted and stripped.replace(".", "", 1).isdigit():
                hint = f"write {text.strip()} without quotes"
                yield problem(node, f"must be a whole number, not the text '{text}'", hint)


def _in_bounds(node: Scalar, number: int, shape: Whole) -> Iterator[Diagnostic]:
    message = out_of_bounds(number, shape)
    if message is not None:
        yield problem(node, message)


def out_of_bounds(number: int, shape: Whole) -> str | None:
    """The reason why a whole number does not fit, or None when it does."""
    if number < shape.low:
        return f"must be at least {shape.low}, not {number}"
    if number > shape.high:
        return f"{number:,} is too large: at most {shape.high:,}"
    return None


def _real(node: Scalar, shape: Real) -> Iterator[Diagnostic]:
    number = real_value(node, shape)
    if number is None:
        hint = None
        if isinstance(node.value, str) and real_value(
            Scalar(_number(node.value), node.mark), shape
        ):
            hint = f"write {node.value.strip()} without quotes"
        yield problem(node, f"must be a number, not {shown(node)}", hint)
    elif shape.low is not None and (number < shape.low or (number == shape.low and shape.low_open)):
        word = "above" if shape.low_open else "at least"
        yield problem(node, f"must be {word} {shape.low:g}, not {number:g}")
    elif shape.high is not None and (
        number > shape.high or (number == shape.high and shape.high_open)
    ):
        word = "below" if shape.high_open else "at most"
        yield problem(node, f"must be {word} {shape.high:g}, not {number:g}")


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def real_value(node: Scalar, shape: Real) -> float | None:
    """The number that stands there (`4%` is 0.04 where a fraction is wanted), or None."""
    match node.value:
        case bool() | None:
            return None
        case int() | float() as number:
            return float(number)
        case str() as text:
            if shape.is_fraction and text.strip().endswith("%"):
                percent = _number(text.strip()[:-1])
                return percent / 100 if percent is not None else None
            return None


def _text(node: Scalar) -> Iterator[Diagnostic]:
    if not isinstance(node.value, str):
        quoted = f'write "{node.text}" in quotes' if node.value is not None else None
        yield problem(node, f"must be a text, not {shown(node)}", quoted)
        return
    reason = why_not_text(node.value)
    if reason is not None:
        yield problem(node, reason)


def _name(node: Scalar, role: Role) -> Iterator[Diagnostic]:
    if not isinstance(node.value, str):
        yield problem(node, f"must be a name, not {shown(node)}")
        return
    reason = why_not(node.value, role)
    if reason is not None:
        yield problem(node, f"{shown(node)} cannot be a name: {reason}")


def _items(node: Node, shape: Items) -> Iterator[Diagnostic]:
    if not isinstance(node, Sequence):
        if shape.one:
            yield from check(node, shape.item)
        else:
            hint = f"write [{node.text}]" if isinstance(node, Scalar) and node.text else None
            yield problem(node, f"must be a list, not {shown(node)}", hint)
        return
    seen: set[object] = set()
    for item in node.items:
        yield from check(item, shape.item)
        if shape.distinct and isinstance(item, Scalar):
            if item.value in seen:
                yield problem(item, f"{shown(item)} stands in the list twice")
            seen.add(item.value)


def _run(node: Node, shape: Run) -> Iterator[Diagnostic]:
    if isinstance(node, Scalar):
        yield from _leaf(node, shape.name)
    elif isinstance(node, Mapping) and len(node.entries) == 1:
        yield from check(node.entries[0].value, shape.count)
    else:
        yield problem(node, f"must be {expected(shape)}")


def _record(node: Node, shape: Record) -> Iterator[Diagnostic]:
    if isinstance(node, Scalar) and shape.spread:
        yield from check(node, shape.fields[0].shape)
        return
    if isinstance(node, Scalar) and shape.kinds:
        yield from _word(node, shape.kinds)
        return
    if not isinstance(node, Mapping):
        yield problem(node, f"must be a mapping, not {shown(node)}", _example(shape))
        return
    for entry in node.entries:
        field = shape.field(entry.key)
        if field is None:
            yield _unknown(node, entry, shape.names)
        else:
            yield from _field(entry, field)


def _example(shape: Record) -> str | None:
    return f"write it as {{{shape.names[0]}: ...}}" if shape.names else None


def _unknown(node: Mapping, entry: Entry, known: tuple[str, ...]) -> Diagnostic:
    path = (*node.mark.written, entry.key)
    place = f" in {dotted(node.mark.written)}" if node.mark.written else ""
    hint = where_it_belongs(entry.key, node.mark.written) or did_you_mean(entry.key, known)
    hint = hint or f"known here: {listed(known, 'and')}"
    return Diagnostic(path, f"unknown key '{entry.key}'{place}", hint, _place(entry))


def _place(entry: Entry) -> Position | None:
    return entry.position or entry.value.mark.position


def _field(entry: Entry, field: Field) -> Iterator[Diagnostic]:
    value, shape = entry.value, field.shape
    if is_null(value):
        inside_override = value.mark.written[0] in _OVERRIDES
        if not (field.nullable or inside_override or isinstance(shape, Record | Variants)):
            yield problem(value, "has no value", "write one, or leave the line out")
        return
    if field.nullable and isinstance(value, Scalar) and _switches(value, shape):
        return
    yield from check(value, shape)


def _switches(value: Scalar, shape: Shape) -> bool:
    """`true`, `false` and `none` for a part that may be absent."""
    if isinstance(shape, Record) and shape.kinds:
        return isinstance(value.value, bool) or value.value == "none"
    return isinstance(shape, Variants) and value.value in (False, "none")


def _variants(node: Node, shape: Variants) -> Iterator[Diagnostic]:
    if isinstance(node, Scalar):
        yield from _word(node, shape.kinds)
        return
    if not isinstance(node, Mapping):
        yield problem(node, f"must be a mapping with a kind, not {shown(node)}")
        return
    kind = node.get("kind")
    inner = only_kind(node, shape)
    if kind is None and inner is not None:
        yield from check(inner, shape)
        return
    record = shape.record(node.word("kind")) or shape.any_kind
    for entry in node.entries:
        field = record.field(entry.key)
        if field is not None:
            yield from _field(entry, field)
        else:
            yield _not_of_kind(node, entry, record, shape)


def only_kind(node: Mapping, shape: Variants) -> Mapping | None:
    """`{llama3: {...}}` as `{kind: llama3, ...}`, or None when it is written otherwise."""
    if len(node.entries) != 1 or node.entries[0].key not in shape.kinds:
        return None
    entry = node.entries[0]
    kind = Scalar(entry.key, node.mark.below("kind"), entry.key)
    inner = entry.value.entries if isinstance(entry.value, Mapping) else ()
    return Mapping((Entry("kind", kind, entry.position), *inner), node.mark)


def _not_of_kind(node: Mapping, entry: Entry, record: Record, shape: Variants) -> Diagnostic:
    owners = shape.kinds_with(entry.key)
    if not owners:
        return _unknown(node, entry, record.names)
    path = (*node.mark.written, entry.key)
    message = (
        f"'{entry.key}' does not go with {dotted(node.mark.written)} of kind '{record.kinds[0]}'"
    )
    return Diagnostic(path, message, f"it belongs to kind {listed(owners)}", _place(entry))


def _options(node: Node, shape: Options) -> Iterator[Diagnostic]:
    for option in shape.shapes:
        fits = (
            (isinstance(option, Record) and isinstance(node, Mapping))
            or (isinstance(option, Real) and _is_number(node))
            or (isinstance(option, Words) and _is_word(node))
        )
        if fits:
            if isinstance(option, Words):
                yield from _option_word(node, option, shape)
            else:
                yield from check(node, option)
            return
    yield problem(node, f"must be {expected(shape)}, not {shown(node)}")


def _is_word(node: Node) -> bool:
    return isinstance(node, Scalar) and isinstance(node.value, str)


def _is_number(node: Node) -> bool:
    return isinstance(node, Scalar) and type(node.value) in (int, float)


def _option_word(node: Node, words: Words, shape: Options) -> Iterator[Diagnostic]:
    if isinstance(node, Scalar) and node.value not in words.words:
        hint = did_you_mean(str(node.value), words.words)
        yield problem(node, f"must be {expected(shape)}, not {shown(node)}", hint)


def _table(node: Node, shape: Table) -> Iterator[Diagnostic]:
    if not isinstance(node, Mapping):
        yield problem(node, f"must be a mapping, not {shown(node)}")
        return
    for entry in node.entries:
        reason = why_not(entry.key, "type") if shape.keys == "type" else None
        if reason is not None:
            path = (*node.mark.written, entry.key)
            message = f"'{entry.key}' cannot be a name: {reason}"
            yield Diagnostic(path, message, None, _place(entry))
        if not is_null(entry.value):
            yield from check(entry.value, shape.value)
