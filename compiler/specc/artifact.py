"""What the compiler makes: one text and the name of the file that holds it.

Build, check and verify all pass it around; none of them needs to know how it came to be.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Artifact:
    """A generated file before it reaches a disk. `path` is a plain file name such as `gpt.py`."""

    path: str
    text: str
    is_measured: bool = False  # its floats were measured: another machine may round them otherwise
