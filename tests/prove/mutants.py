"""Every mutant of every spec, and every mistake of lowering: `python -m tests.prove.mutants`."""

from __future__ import annotations

import sys
from collections import Counter

from specc.verify.mutants import Fate, MutantReport, run_mutants
from tests.outside.lowering import LOWERING, noticed
from tests.prove.tables import PUBLISHED, SMALL, for_each, say, spec_file, table, timed, write

SMALLEST_MARGIN = 5.0


def main() -> int:
    """Run them all; 1 when one survives or is noticed too narrowly."""
    names = (*PUBLISHED, *SMALL)
    found = for_each(_one, names)
    reports = [report for report, _ in found]
    lowering = for_each(_lowered, range(len(LOWERING)))
    write(
        "mutants.md",
        "# Mutants: broken files that the checks must notice",
        "Written by `make prove`. Each spec's file is broken in every way that its parts declare,"
        " by a wrong choice in the IR or by wrong code; the checks of `specc verify` run until one"
        " fails. Margin: difference / tolerance, of the checks of numbers. Share: the part of all"
        " values whose bits differ, of the checks of bits. Seconds are those of one core.",
        table(
            ("spec", "mutants", "killed", "equivalent", "survived", "margin", "share", "seconds"),
            [
                *(_row(n, r, s) for n, (r, s) in zip(names, found, strict=True)),
                _total(reports, sum(s for _, s in found)),
            ],
        ),
        "## Which check noticed first",
        table(
            ("check", "mutants"),
            Counter(m.by for r in reports for m in r.mutants if m.by).most_common(),
        ),
        "## Equivalent",
        "No file can tell; golden of the mutant, or the broken file itself, answers every fixture"
        " as golden does, to 1e-12.",
        table(
            ("spec", "mutant", "reason"),
            [
                (n, m.name, m.reason)
                for n, r in zip(names, reports, strict=True)
                for m in r.of(Fate.EQUIVALENT)
            ],
        ),
        "## Mistakes of lowering",
        "Golden and the file would share them: published counts, the seeds' own answers and models"
        " of transformers notice.",
        table(("mistake", "noticed by", "evidence"), [row for rows in lowering for row in rows]),
    )
    return _verdict(reports, [row for rows in lowering for row in rows])


def _one(name: str) -> tuple[MutantReport, float]:
    return timed(lambda: run_mutants(spec_file(name)))


def _lowered(number: int) -> list[tuple[str, str, str]]:
    mutant = LOWERING[number]
    return [(mutant.name, q, noticed(mutant, q) or "SURVIVED") for q in mutant.missed]


def _row(name: str, report: MutantReport, seconds: float) -> tuple[object, ...]:
    shares = [m.share for m in report.mutants if m.share is not None]
    margin = report.smallest_margin
    return (
        name,
        len(report.mutants),
        *(len(report.of(fate)) for fate in (Fate.KILLED, Fate.EQUIVALENT, Fate.SURVIVED)),
        "" if margin is None else margin,
        min(shares) if shares else "",
        round(seconds),
    )


def _total(reports: list[MutantReport], seconds: float) -> tuple[object, ...]:
    every = MutantReport("all", tuple(m for r in reports for m in r.mutants))
    return _row("all", every, seconds)


def _verdict(reports: list[MutantReport], lowering: list[tuple[str, str, str]]) -> int:
    problems = [f"{r.spec}: {r.fault}" for r in reports if r.fault is not None]
    for report in reports:
        for m in report.mutants:
            narrow = m.margin is not None and m.margin < SMALLEST_MARGIN
            if narrow or m.status is Fate.SURVIVED:
                problems.append(f"{report.spec}: {m}")
    problems += [f"lowering: {row[0]}, {row[1]}" for row in lowering if row[2] == "SURVIVED"]
    for problem in problems:
        say(problem)
    say(f"{sum(len(r.mutants) for r in reports)} mutants, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
