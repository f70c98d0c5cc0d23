"""What is wrong between a checkpoint and a model, collected, each naming its tensor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MOST = 8  # said at once; a checkpoint of another model lacks hundreds


class WeightsError(Exception):
    """Tensors that do not fit, each in a sentence of its own that begins with its name."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        more = len(self.problems) - MOST
        shown = [*self.problems[:MOST], *([f"and {more} more like these"] if more > 0 else [])]
        super().__init__("\n".join(shown))


def nearest(name: str, known: Sequence[str]) -> str:
    """A hint with the closest name, or nothing."""
    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"; the nearest name is {close[0]}" if close else ""


def mixed_dtypes(names: Sequence[str], dtypes: Sequence[str]) -> str | None:
    """A problem where tensors that become one are of several dtypes."""
    for name, dtype in zip(names, dtypes, strict=True):
        if dtype != dtypes[0]:
            return f"{name}: {dtype}, and {names[0]}, which it is joined with, {dtypes[0]}"
    return None
