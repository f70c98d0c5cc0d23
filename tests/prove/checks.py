"""Every check of every spec, compiling included: `python -m tests.prove.checks`."""

from __future__ import annotations

import sys

from specc.verify import Report, Status, verify
from tests.prove.tables import PUBLISHED, SMALL, for_each, say, spec_file, table, timed, write


def main() -> int:
    """Run them all; 1 when one fails."""
    names = (*PUBLISHED, *SMALL)
    found = for_each(_one, names)
    rows = [
        (name, *(_count(report, status) for status in Status), round(seconds))
        for name, (report, seconds) in zip(names, found, strict=True)
    ]
    total = ("all", *(sum(row[i] for row in rows) for i in range(1, len(rows[0]))))
    write(
        "checks.md",
        "# All checks of all specs",
        "Written by `make prove`: `specc verify`, compiling and exporting included. Seconds are"
        " those of one core.",
        table(("spec", *(status.value for status in Status), "seconds"), [*rows, total]),
    )
    failures = [(name, f) for name, (r, _) in zip(names, found, strict=True) for f in r.failures]
    for name, failure in failures:
        say(f"{name}: {failure.name}: {failure.evidence}")
    say(f"{len(names)} specs, {len(failures)} checks failed")
    return 1 if failures else 0


def _one(name: str) -> tuple[Report, float]:
    return timed(lambda: verify(spec_file(name)))


def _count(report: Report, status: Status) -> int:
    return sum(check.status is status for check in report.checks)


if __name__ == "__main__":
    sys.exit(main())
