"""Many specs in a row: draws them in batches, judges each, shrinks what fails, counts everything.

The same seed draws the same specs. A batch ends at its first failure, which Hypothesis shrinks; the
next batch goes on, so that one bug does not hide another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import perf_counter

from hypothesis import HealthCheck, Phase, Verbosity, given, seed, settings

from specc.verify.random_specs.pruning import pruned
from specc.verify.random_specs.strategies import specs
from specc.verify.random_specs.trial import Outcome, Verdict, try_spec
from specc.verify.random_specs.yaml_text import Tree, dump

BATCH = 200  # specs

Judge = Callable[[str], Outcome]


class FoundError(Exception):
    """A spec with which something is wrong."""

    def __init__(self, tree: Tree, outcome: Outcome) -> None:
        self.tree = tree
        self.outcome = outcome
        super().__init__(f"{outcome.verdict.value}: {outcome.evidence}\n{dump(tree)}")


@dataclass(frozen=True)
class Failure:
    """A failing spec, as small as shrinking made it, and the batch that drew it."""

    text: str
    outcome: Outcome
    batch_seed: int

    def __str__(self) -> str:
        return (
            f"--- {self.outcome.verdict.value}: {self.outcome.evidence.strip()}\n"
            f"# drawn with seed {self.batch_seed}; to try it again, save what follows and run\n"
            f"#   python -m specc.verify.random_specs --spec FILE\n{self.text}"
        )


@dataclass
class Tally:
    """What came of all specs drawn."""

    verdicts: Counter[Verdict] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def count(self) -> int:
        """How many specs were drawn, those of shrinking apart."""
        return self.verdicts.total()

    def __str__(self) -> str:
        named = ", ".join(f"{self.verdicts[each]} {each.value}" for each in Verdict)
        each = self.seconds / max(1, self.count)
        return f"{self.count} specs: {named}; {self.seconds:.0f} s, {each:.2f} s a spec"


def run_campaign(
    count: int,
    first_seed: int,
    judge: Judge = try_spec,
    tell: Callable[[Failure], None] | None = None,
) -> Tally:
    """Draw and judge `count` specs; `tell` hears of each failure at once."""
    tally = Tally()
    start = perf_counter()
    for batch_seed, size in _batches(count, first_seed):
        failure = run_batch(size, batch_seed, judge, tally.verdicts)
        if failure is not None:
            tally.failures.append(failure)
            if tell is not None:
                tell(failure)
    tally.seconds = perf_counter() - start
    return tally


def _batches(count: int, first_seed: int) -> Iterator[tuple[int, int]]:
    for number, start in enumerate(range(0, count, BATCH)):
        yield first_seed * 1000 + number, min(BATCH, count - start)


def run_batch(
    size: int, batch_seed: int, judge: Judge, verdicts: Counter[Verdict]
) -> Failure | None:
    """Judge `size` specs or those up to the first failure, which is shrunk."""
    is_shrinking = False

    @seed(batch_seed)
    @settings(
        max_examples=size,
        database=None,
        deadline=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=tuple(HealthCheck),
        report_multiple_bugs=False,
        print_blob=False,
        verbosity=Verbosity.quiet,
    )
    @given(specs())
    def judged(tree: Tree) -> None:
        nonlocal is_shrinking
        outcome = judge(dump(tree))
        if not is_shrinking:
            verdicts[outcome.verdict] += 1
        if not outcome.verdict.is_fine:
            is_shrinking = True
            raise FoundError(tree, outcome)

    try:
        judged()
    except FoundError as found:
        return _smallest(found, judge, batch_seed)
    return None


def _smallest(found: FoundError, judge: Judge, batch_seed: int) -> Failure:
    verdict = found.outcome.verdict
    text = dump(pruned(found.tree, lambda tree: judge(dump(tree)).verdict is verdict))
    return Failure(text, judge(text), batch_seed)
