"""2,000 random specs: `python -m tests.prove.random_specs`; the support matrix has its own page."""

from __future__ import annotations

import sys

import torch

from specc.verify.random_specs.campaign import run_campaign
from specc.verify.random_specs.trial import Verdict
from tests.prove.tables import say, table, write

COUNT, SEED = 2000, 0


def main() -> int:
    """Draw them all; 1 when one crashes or disagrees."""
    torch.set_num_threads(1)
    tally = run_campaign(COUNT, SEED, tell=lambda failure: say(str(failure)))
    write(
        "random_specs.md",
        "# Random specs",
        "Written by `make prove`. Specs drawn from the schema: each is built, imported, run and"
        " compared with golden in float64 and float32, forward and gradient, or refused with a"
        " clean diagnostic.",
        table(
            ("seed", "specs", *(verdict.value for verdict in Verdict), "seconds"),
            [(SEED, tally.count, *(tally.verdicts[v] for v in Verdict), round(tally.seconds))],
        ),
    )
    say(f"seed {SEED}: {tally}")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
