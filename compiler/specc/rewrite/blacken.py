"""Formats a module with black, in one fixed mode.

The mode is spelled out so that no configuration file of a user can change the bytes of the output.
"""

from __future__ import annotations

from black import format_str
from black.mode import Mode, TargetVersion
from black.parsing import InvalidInput

MODE = Mode(line_length=88, target_versions={TargetVersion.PY310})


def blacken(text: str) -> str:
    """The module as black's stable style writes it. Raises `SyntaxError` when it does not parse."""
    try:
        return format_str(text, mode=MODE)
    except InvalidInput as error:
        raise SyntaxError(str(error)) from error
