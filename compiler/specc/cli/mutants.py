"""What became of a spec's mutants, for a person (a table) or for a program (JSON)."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from specc.cli.out import is_colourful, say
from specc.cli.table import Format, show_json

if TYPE_CHECKING:
    from specc.verify.mutants import MutantReport, MutantResult

COLOURS = {"killed": "green", "equivalent": "dim", "survived": "bold red"}


def show_mutants(reports: Sequence[MutantReport], how: Format) -> None:
    """Print them all. JSON: one object, or a list when there are several."""
    if how is Format.JSON:
        show_json([report.to_dict() for report in reports])
        return
    for report in reports:
        (_show_rich if is_colourful(sys.stdout) else _show_plain)(report)


def summary(report: MutantReport) -> str:
    """One line: how many mutants there were, and whether the checks noticed all that matter."""
    if report.fault is not None:
        name, evidence = report.fault.name, report.fault.evidence
        return f"{report.spec}: FAILED: the unbroken file fails {name}: {evidence}"
    counts = dict.fromkeys(COLOURS, 0)
    for mutant in report.mutants:
        counts[mutant.status.value] += 1
    told = ", ".join(f"{number} {status}" for status, number in counts.items())
    verdict = "proved" if report.passed else "FAILED"
    smallest = report.smallest_margin
    margin = "" if smallest is None else f"; smallest margin {smallest:.3g}"
    return f"{report.spec}: {verdict}: {len(report.mutants)} mutants: {told}{margin}"


def distance(mutant: MutantResult) -> str:
    """`12.3 x` the tolerance, `45 %` of the elements, or nothing."""
    if mutant.margin is not None:
        return f"{mutant.margin:.3g} x"
    return "" if mutant.share is None else f"{mutant.share:.0%}"


def _row(mutant: MutantResult) -> tuple[str, str, str, str, str]:
    by = mutant.by or ""
    return mutant.status.value, mutant.name, by, distance(mutant), mutant.reason


def _show_plain(report: MutantReport) -> None:
    """Five columns, never wrapped: for files, pipes and logs."""
    rows = [_row(mutant) for mutant in report.mutants]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    for row in rows:
        *cells, reason = row
        say("  ".join([*(f"{c:<{w}}" for c, w in zip(cells, widths, strict=True)), reason]))
    say(summary(report))


def _show_rich(report: MutantReport) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        "mutant", "status", "by", "margin", "evidence", title=report.spec, title_justify="left"
    )
    for mutant in report.mutants:
        status, name, by, far, reason = _row(mutant)
        state = Text(status, COLOURS[status])
        table.add_row(Text(name), state, Text(by), Text(far), Text(reason))
    console = Console()
    console.print(table)
    console.print(Text(summary(report), "bold green" if report.passed else "bold red"))
