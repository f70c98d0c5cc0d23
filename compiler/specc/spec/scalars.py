"""What an unquoted YAML scalar means: the YAML 1.2 core schema, with a lint where YAML 1.1 read it
otherwise. `on` stays a word (1.1 made it true), `1e-6` is a number (1.1 readers made it text) and
`010` is refused (8 there, 10 here).
"""

from __future__ import annotations

import re

from specc.spec.tree import Plain

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTH = {
    word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_BASED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")

LONGEST_NUMBER = 40


class ScalarError(ValueError):
    """A scalar that two readers would read differently, or that no field could hold."""


def resolve(text: str) -> Plain:
    """The value of a plain scalar; raises ScalarError for one that nobody should write."""
    if text in _NULL:
        return None
    if text in _TRUTH:
        return _TRUTH[text]
    if _SPECIAL.fullmatch(text):
        raise ScalarError(f"'{text}' is no number that a model can hold")
    if _LEADING_ZERO.fullmatch(text):
        raise ScalarError(
            f"'{text}' has a leading zero: YAML 1.1 reads it as octal, YAML 1.2 as decimal;"
            f" write {text.lstrip('+-0') or '0'} or quote it"
        )
    if _BASED.fullmatch(text):
        return int(_short(text), 0)
    if _INTEGER.fullmatch(text):
        return int(_short(text))
    if _FLOAT.fullmatch(text):
        value = float(_short(text))
        if value in (float("inf"), float("-inf")):
            raise ScalarError(f"'{text}' is too large")
        return value
    return text


def _short(text: str) -> str:
    if len(text) > LONGEST_NUMBER:
        raise ScalarError(f"a number of {len(text)} digits is too long")
    return text
