"""Every mutant against the test file that is vendored: `python -m tests.prove.vendored`."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from specc.pipeline import compile_fully
from specc.render import render
from specc.verify import quiet_torch
from specc.verify.loading import LoadError
from specc.verify.mutants import Fate, attempts, try_mutants
from specc.verify.vendored import vendor
from specc.verify.vendored.trial import first_failure
from tests.prove.tables import PUBLISHED, for_each, say, spec_file, table, timed, write

SHARE = 0.95

# Why a test file that needs no specc and runs in seconds lets a mutant through.
ALIKE = "the same numbers: only the work differs"
PLACE = "dropout is tested as on or off, not by its place"
GREEDY = "the likeliest tokens of its small model are the same"
PRECISION = "its frozen numbers are of float64, which this does not touch enough"
REASONS = {
    "Groups: fill = zero": "the scores of the groups that are kept are above zero",
    "code: a lone token weighs all alike": f"only a lone token goes that way; {GREEDY}",
    "code: all experts run on all tokens": ALIKE,
    "code: angles in float32": "at its short positions they are right to the frozen six digits",
    "code: balancing starts at 1": "a bias alike for all experts chooses the same ones",
    "code: both ways: a padding token may look at nothing": "outputs of padding are not compared",
    "code: ends at the first stop token": "its rows meet the stop token together",
    "code: experts chosen in low precision": PRECISION,
    "code: hidden dropout before the activation": PLACE,
    "code: norm in low precision": PRECISION,
    "code: output dropout before its projection": PLACE,
    "code: positions in bfloat16": "bfloat16 holds its positions, all below 256, as they are",
    "code: rows go on after the stop token": "its rows repeat the stop token by themselves",
    "code: the gate clamped from below too": "no gate of its small model is that low",
    "code: the mask does not grow by real tokens": GREEDY,
    "code: the mask grows on the left": GREEDY,
    "code: the memory is read at each step": ALIKE,
    "code: the stop token is not given": "its stop token is 0, which the mistake gives",
    "code: up clamped from above only": "nothing of its small model is that low",
}


@dataclass(frozen=True)
class Trial:
    """The mutants of one spec: how many matter, and which the test file let through."""

    spec: str
    equivalent: tuple[str, ...]
    killed: tuple[tuple[str, str], ...]
    survived: tuple[str, ...]

    @property
    def share(self) -> float:
        return len(self.killed) / (len(self.killed) + len(self.survived))


def main() -> int:
    """Run them all; 1 when too few are killed or a survivor has no reason."""
    found = for_each(_one, PUBLISHED)
    trials = [trial for trial, _ in found]
    killed = sum(len(t.killed) for t in trials)
    survived = [(t.spec, name) for t in trials for name in t.survived]
    share = killed / (killed + len(survived))
    write(
        "vendored_tests.md",
        "# The mutants against the test files to vendor",
        "Written by `make prove`. `specc build --with-tests` writes a test file that needs torch"
        " and pytest alone; it is run on every mutant that is not equivalent.",
        table(
            ("spec", "mutants", "killed", "survived", "share", "seconds"),
            [
                *(
                    (
                        t.spec,
                        len(t.killed) + len(t.survived),
                        len(t.killed),
                        len(t.survived),
                        t.share,
                        round(s),
                    )
                    for t, s in found
                ),
                (
                    "all",
                    killed + len(survived),
                    killed,
                    len(survived),
                    share,
                    round(sum(s for _, s in found)),
                ),
            ],
        ),
        "## Survivors",
        table(
            ("spec", "mutant", "reason"), [(s, n, REASONS.get(n, "NO REASON")) for s, n in survived]
        ),
    )
    unknown = sorted({name for _, name in survived} - set(REASONS))
    say(f"{killed} of {killed + len(survived)} killed ({share:.1%}); without a reason: {unknown}")
    return 1 if unknown or share < SHARE else 0


def _one(name: str) -> tuple[Trial, float]:
    return timed(lambda: _trial(name))


def _trial(name: str) -> Trial:
    compilation = compile_fully(spec_file(name))
    model, text = compilation.model, compilation.artifact.text
    test = vendor(compilation).text
    with quiet_torch():
        for right in (text, render(model)):
            fault = first_failure(test, right, name)
            if fault is not None:
                raise ValueError(f"{name}: the unbroken file fails {fault}")
        outcomes = [
            (attempt.name, _failed(test, attempt.text, name)) for attempt in attempts(model, text)
        ]
    passed = [mutant for mutant, test_name in outcomes if test_name is None]
    results = try_mutants(model, text, passed)
    equivalent = [r.name for r in results if r.status is Fate.EQUIVALENT]
    return Trial(
        name,
        tuple(equivalent),
        tuple((mutant, test_name) for mutant, test_name in outcomes if test_name is not None),
        tuple(mutant for mutant in passed if mutant not in equivalent),
    )


def _failed(test: str, model: str | None, name: str) -> str | None:
    """The test that failed."""
    if model is None:
        return None
    try:
        failure = first_failure(test, model, name)
    except LoadError:
        return "the import"
    return None if failure is None else failure.test


if __name__ == "__main__":
    sys.exit(main())
