"""Formats a module with black, in one fixed mode.

The mode is spelled out so that no configuration file of a user can change the bytes of the output.
Black takes most of a build's time, and files have much in common: each function and each method is
formatted by itself, and once in a process. Where that could show, the whole is formatted at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from black import format_str
from black.mode import Mode, TargetVersion
from black.parsing import InvalidInput

MODE = Mode(line_length=88, target_versions={TargetVersion.PY310})
# What black leaves before a class or a function, and before a method.
_GAP, _SMALL_GAP = "\n\n\n", "\n\n"
_GAPS = re.compile(r"\n{3,}(?=(?:@|class |def )\w)")
_SMALL_GAPS = re.compile(r"\n{2,}(?=    (?:@|def )\w)")
_CLASS = re.compile(r"(?:@.*\n)*class \w")
_OWNER = "class _:\n"
_REACHING = ("# fmt:", "# yapf:")  # comments that are about more than their own function
_MOST_PIECES = 4096


def blacken(text: str) -> str:
    """The module as black's stable style writes it. Raises `SyntaxError` when it does not parse."""
    inside = text.strip("\n")
    if inside and not any(mark in text for mark in _REACHING):
        try:
            return _GAP.join(map(_section, _GAPS.split(inside))) + "\n"
        except InvalidInput:  # a gap inside a string
            pass
    try:
        return format_str(text, mode=MODE)
    except InvalidInput as error:
        raise SyntaxError(str(error)) from error


def _section(text: str) -> str:
    """A class, a function, or what stands before the first. Raises InvalidInput."""
    return _SMALL_GAP.join(_pieces(text)) if _CLASS.match(text) else _formatted(text)


def _pieces(text: str) -> Iterator[str]:
    """What a class opens with, then its methods one by one."""
    head, *methods = _SMALL_GAPS.split(text)
    yield _formatted(head)
    for method in methods:
        yield _formatted(_OWNER + method).removeprefix(_OWNER)


@lru_cache(_MOST_PIECES)
def _formatted(text: str) -> str:
    """A text that black can read by itself, without the line's end. Raises InvalidInput."""
    return format_str(f"{text}\n", mode=MODE).rstrip("\n")
