"""The command line of random specs: a campaign, one spec, or the support matrix."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import torch

from specc.verify.random_specs.campaign import run_campaign
from specc.verify.random_specs.matrix import write_matrix
from specc.verify.random_specs.trial import try_spec


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the arguments ask for: 0 when nothing is wrong, else 1."""
    parser = argparse.ArgumentParser(
        prog="python -m specc.verify.random_specs", description=__doc__
    )
    parser.add_argument("--count", type=int, default=200, help="how many specs to draw")
    parser.add_argument("--seed", type=int, default=0, help="the same seed draws the same specs")
    parser.add_argument("--spec", type=Path, help="judge this one spec instead")
    parser.add_argument("--matrix", type=Path, help="write the support matrix to this file instead")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)  # the tensors are tiny
    if given.spec is not None:
        return _judge(given.spec)
    if given.matrix is not None:
        return _matrix(given.matrix)
    return _campaign(given.count, given.seed)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _judge(path: Path) -> int:
    outcome = try_spec(path.read_text(encoding="utf-8"))
    _say(f"{outcome.verdict.value} {outcome.evidence}".strip())
    return 0 if outcome.verdict.is_fine else 1


def _campaign(count: int, seed: int) -> int:
    tally = run_campaign(count, seed, tell=lambda failure: _say(str(failure)))
    _say(f"seed {seed}: {tally}")
    return 1 if tally.failures else 0


def _matrix(path: Path) -> int:
    summary, failures = write_matrix(path)
    for failure in failures:
        _say(failure)
    _say(summary)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
