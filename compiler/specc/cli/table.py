"""A verification's results for a person (a table) or for a program (JSON)."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING

from specc.cli.out import is_colourful, say

if TYPE_CHECKING:
    from specc.verify.report import Report

COLOURS = {"pass": "green", "fail": "bold red", "not_applicable": "dim"}


class Format(str, Enum):
    """How to print a verification."""

    TABLE = "table"
    JSON = "json"


class CardFormat(str, Enum):
    """How to print a cost card."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"


class Library(str, Enum):
    """What a model may be compared with."""

    HF = "hf"


class Target(str, Enum):
    """What weights are converted for."""

    OURS = "specc"
    HF = "hf"


def show_json(data: Sequence[Mapping[str, object]]) -> None:
    """One object, or a list when there are several."""
    say(json.dumps(data[0] if len(data) == 1 else data, indent=2))


def show(reports: Sequence[Report], how: Format) -> None:
    """Print them all. JSON: one object, or a list when there are several."""
    if how is Format.JSON:
        show_json([report.to_dict() for report in reports])
        return
    for report in reports:
        (_show_rich if is_colourful(sys.stdout) else _show_plain)(report)


def summary(report: Report) -> str:
    """One line: how many checks passed, and whether that is enough."""
    counts = [sum(c.status.value == status for c in report.checks) for status in COLOURS]
    verdict = "verified" if report.passed else "FAILED"
    passed, failed, other = counts
    return f"{report.spec}: {verdict}: {passed} passed, {failed} failed, {other} not applicable"


def _show_plain(report: Report) -> None:
    """Three columns, never wrapped: for files, pipes and logs."""
    width = max((len(check.name) for check in report.checks), default=0)
    for check in report.checks:
        status = check.status.value.replace("not_applicable", "n/a")
        say(f"{status:<4}  {check.name:<{width}}  {check.evidence}")
    say(summary(report))


def _show_rich(report: Report) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("check", "status", "evidence", title=report.spec, title_justify="left")
    for check in report.checks:
        status = check.status.value
        colour = COLOURS[status]
        table.add_row(
            Text(check.name), Text(status.replace("_", " "), colour), Text(check.evidence)
        )
    console = Console()
    console.print(table)
    console.print(Text(summary(report), "bold green" if report.passed else "bold red"))
