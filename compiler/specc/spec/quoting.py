"""Texts as YAML scalars that no reader can take for anything else."""

from __future__ import annotations

import json
import re

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:(?:, | |-)[A-Za-z0-9_]+)*")
_BARE_IN_FLOW = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:(?: |-)[A-Za-z0-9_]+)*")
_RESERVED = frozenset({"true", "false", "null"})


def quoted(text: str, *, in_flow: bool = False) -> str:
    """A text as YAML: bare when that cannot be misread. In a flow, {...}, a comma ends a text."""
    pattern = _BARE_IN_FLOW if in_flow else _BARE
    is_bare = pattern.fullmatch(text) and text.lower() not in _RESERVED
    return text if is_bare else json.dumps(text, ensure_ascii=False)
