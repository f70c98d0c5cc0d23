"""The text of a JSON config -> plain values that know where their keys stand.

Every way in which two readers could read the text differently is refused: a key said twice, NaN
and infinity, bytes that are not UTF-8. Knows JSON, no config.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from specc.diagnostics import Diagnostic, Position, SpecError, SpecPath

LARGEST_CONFIG = 1 << 22  # bytes; the labels of the largest classifiers take one million

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')


@dataclass(frozen=True)
class Document:
    """A config as it was written. `source` is its name in messages."""

    source: str
    text: str
    values: Mapping[str, Value]

    def position_of(self, path: SpecPath) -> Position | None:
        """Where the key of that path stands; that of the nearest key above it otherwise."""
        best: tuple[int, int] = (0, -1)
        for found, offset in _keys(self.text):
            if len(found) > best[0] and path[: len(found)] == found:
                best = (len(found), offset)
        return _position(self.text, best[1]) if best[0] else None

    def error(self, problems: list[Diagnostic]) -> SpecError:
        """The problems with their places in this file."""
        return SpecError(problems).located(self.source, self.text, self.position_of)


class _SaidTwice(ValueError):
    """A mapping that has one key twice."""


class _NoNumber(ValueError):
    """A number that JSON does not have, or that no float holds."""


def read(data: bytes, source: str) -> Document:
    """The document, or SpecError with the place where it stops being one."""
    text = _decoded(data, source)
    try:
        values = json.loads(
            text, object_pairs_hook=_mapping, parse_constant=_constant, parse_float=_float
        )
    except json.JSONDecodeError as error:
        place = Position(error.lineno, error.colno)
        message = f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"
        raise _refused(message, source, text, place) from None
    except _SaidTwice as error:
        raise _said_twice(str(error), source, text) from None
    except _NoNumber as error:
        place = _position(text, _offset_of(text, str(error)))
        message = f"{error} is no number that a model can hold"
        raise _refused(message, source, text, place) from None
    except (RecursionError, ValueError):  # nested thousands deep; a number of thousands of digits
        message = "nested too deep, or a number too long, for a config"
        raise _refused(message, source, text, None) from None
    if not isinstance(values, dict):
        message = "a config is a JSON object, {...}, of keys and values"
        raise _refused(message, source, text, Position(1, 1))
    return Document(source, text, values)


def _refused(message: str, source: str, text: str, place: Position | None) -> SpecError:
    return SpecError([Diagnostic((), message, None, place)], source, text)


def _decoded(data: bytes, source: str) -> str:
    if len(data) > LARGEST_CONFIG:
        message = f"more than {LARGEST_CONFIG:,} bytes: this is no config.json"
        raise _refused(message, source, "", None)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"byte {data[error.start]:#04x} is not UTF-8: a config is text"
        raise _refused(what, source, "", None) from None
    if not text.strip():
        raise _refused("the config is empty", source, "", None)
    return text


def _mapping(pairs: list[tuple[str, Value]]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, value in pairs:
        if key in found:
            raise _SaidTwice(key)
        found[key] = value
    return found


def _constant(word: str) -> float:
    raise _NoNumber(word)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise _NoNumber(text)
    return value


def _said_twice(key: str, source: str, text: str) -> SpecError:
    seen: set[SpecPath] = set()
    place = None
    for path, offset in _keys(text):
        if path[-1] == key and path in seen:
            place = _position(text, offset)
            break
        seen.add(path)
    message = f"the key '{key}' is said twice, and readers differ in which they take"
    return _refused(message, source, text, place)


def _offset_of(text: str, token: str) -> int:
    """Where that number stands: not in a string."""
    return next((m.start() for m in _TOKEN.finditer(text) if m[0] == token), 0)


def _position(text: str, offset: int) -> Position:
    before = text[:offset]
    return Position(before.count("\n") + 1, offset - before.rfind("\n"))


def _keys(text: str) -> Iterator[tuple[SpecPath, int]]:
    """The path and the place of every key of a JSON text, in order."""
    path: list[str | int] = []
    tokens = list(_TOKEN.finditer(text))
    for here, after in zip(tokens, [*tokens[1:], None], strict=True):
        match here[0]:
            case "{":
                path.append("")
            case "[":
                path.append(0)
            case "}" | "]":
                path.pop()
            case "," if path and isinstance(path[-1], int):
                path[-1] += 1
            case word if after is not None and after[0] == ":" and path:
                path[-1] = json.loads(word)
                yield tuple(path), here.start()


def shown(value: Value) -> str:
    """A value as an error message names it."""
    match value:
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            text = json.dumps(value)
            return text if len(text) <= 40 else f"{text[:37]}..."
