"""Rendered text in, the same program tidied out: passes over the syntax tree, one a file, then
black.

A pass only tidies: if it had to rename or reorder, the template was wrong. What the text means is
none of this room's business, and the meaning of the program is the same before and after.
"""

from __future__ import annotations

from specc.rewrite.blacken import blacken
from specc.rewrite.prune_imports import prune_imports

__all__ = ["tidy"]

PASSES = (prune_imports, blacken)


def tidy(text: str) -> str:
    """Run every pass over a module. Raises `SyntaxError` when it is none: a template's bug."""
    for run in PASSES:
        text = run(text)
    return text
