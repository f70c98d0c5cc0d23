"""A small YAML writer: one line for each top-level key, what lies below in flow style. What it
writes is what a failure report shows, so that a spec is as short to read as it can be.
"""

from __future__ import annotations

import json
import re
from typing import Any

from specc.ir.exhaustive import assert_never

Tree = dict[str, Any]
Value = bool | int | float | str | None | list[Any] | Tree

_PLAIN = re.compile(r"[A-Za-z][\w /*+()-]*\Z")
_SPOKEN_FOR = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "inf", "nan"}


def dump(tree: Tree) -> str:
    """The tree as YAML text."""
    return "".join(f"{_scalar(key)}: {flow(value)}\n" for key, value in tree.items())


def flow(value: Value) -> str:
    """One value on one line."""
    match value:
        case dict():
            return "{" + ", ".join(f"{_scalar(k)}: {flow(v)}" for k, v in value.items()) + "}"
        case list():
            return "[" + ", ".join(flow(item) for item in value) + "]"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _scalar(value)
        case _:
            assert_never(value)


def _scalar(text: str) -> str:
    """The text without quotes where YAML reads it as it stands."""
    is_plain = _PLAIN.match(text) and text.strip() == text and text.lower() not in _SPOKEN_FOR
    return text if is_plain else json.dumps(text, ensure_ascii=False)
