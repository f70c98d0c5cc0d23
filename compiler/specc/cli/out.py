"""How the verbs speak: results to stdout, complaints to stderr, colour only where a person looks.

NO_COLOR (https://no-color.org), TERM=dumb and anything that is no terminal give plain text.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO


def say(text: str) -> None:
    """One result line, or several, to stdout."""
    print(text, file=sys.stdout)  # noqa: T201  # the room that prints


def complain(text: str) -> None:
    """A message for a person, to stderr, after everything that was said."""
    sys.stdout.flush()
    print(text, file=sys.stderr)  # noqa: T201  # the room that prints


def say_bytes(text: str) -> None:
    """Exactly this text in UTF-8, whatever the terminal's encoding and line ends."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()


def is_colourful(stream: TextIO) -> bool:
    """Whether escape codes help the reader of that stream."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return stream.isatty() and not plain


def paint_diff(line: str) -> str:
    """A line of a unified diff in the usual colours."""
    colours = {"+": "32", "-": "31", "@": "36"}
    colour = colours.get(line[:1])
    return f"\033[{colour}m{line}\033[0m" if colour else line
