"""Generated files for the tests of this folder: compiled once, and broken by small edits."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from specc.pipeline import Compilation, compile_fully

SPECS = Path(__file__).resolve().parents[3] / "specs"


@cache
def compiled(name: str) -> Compilation:
    return compile_fully(SPECS / f"{name}.yaml")


def edited(text: str, old: str, new: str) -> str:
    """The text with its one `old` replaced; an edit that finds none or several is a broken test."""
    if text.count(old) != 1:
        raise ValueError(f"{old!r} stands {text.count(old)} times in the file")
    return text.replace(old, new)
