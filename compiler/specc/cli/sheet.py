"""Tables for a person: plain columns, rich where a person looks, or Markdown."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specc.cli.out import is_colourful, say

WIDTH = 100


@dataclass(frozen=True)
class Sheet:
    """A titled table. The first `words` columns are text, the others numbers, set to the right."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1


def show_sheets(heading: str, sheets: Sequence[Sheet], notes: Sequence[str]) -> None:
    """Print them, with what was counted below."""
    if is_colourful(sys.stdout):
        _show_rich(heading, sheets, notes)
        return
    found = [heading]
    for sheet in sheets:
        found += ["", sheet.title, *_plain(sheet)]
    wrapped = [textwrap.fill(note, WIDTH, subsequent_indent="  ") for note in notes]
    say("\n".join([*found, "", *wrapped]))


def show_markdown(heading: str, sheets: Sequence[Sheet], notes: Sequence[str]) -> None:
    """Print them as Markdown."""
    found = [f"# {_escaped(heading)}"]
    for sheet in sheets:
        marks = ["---"] * sheet.words + ["---:"] * (len(sheet.header) - sheet.words)
        lines = (sheet.header, marks, *sheet.rows)
        found += ["", f"## {sheet.title}", ""]
        found += [f"| {' | '.join(map(_escaped, line))} |" for line in lines]
    say("\n".join([*found, "", *(f"- {_escaped(note)}" for note in notes)]))


def _escaped(text: str) -> str:
    """Text that Markdown shows as it is."""
    for mark in "\\|*_<`":
        text = text.replace(mark, f"\\{mark}")
    return text


def _plain(sheet: Sheet) -> Iterator[str]:
    lines = (sheet.header, *sheet.rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.ljust(width) if i < sheet.words else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()


def _show_rich(heading: str, sheets: Sequence[Sheet], notes: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    console.print(Text(heading, "bold"))
    for sheet in sheets:
        table = Table(title=sheet.title, title_justify="left")
        for i, name in enumerate(sheet.header):
            table.add_column(name, justify="left" if i < sheet.words else "right")
        for row in sheet.rows:
            table.add_row(*map(Text, row))
        console.print(table)
    for note in notes:
        console.print(Text(note, "dim"))
