"""Times several ways to do one piece of work in turns, ABAB..., so that all share the noise."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from time import perf_counter

SHORTEST = 0.02  # seconds of a sample: faster work is repeated within it
FEWEST, MOST = 7, 41  # samples of each way


@dataclass(frozen=True)
class Work:
    """What is done and timed; `ready` comes before every time and is not timed."""

    do: Callable[[], object]
    units: int = 1  # the time is of one of so many
    ready: Callable[[], object] = lambda: None


@contextmanager
def _undisturbed() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def interleaved(ways: Mapping[str, Work], seconds: float) -> dict[str, list[float]]:
    """Seconds of one unit of each way, a sample a round, for about `seconds` in all."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    with _undisturbed():
        repeats = {name: _repeats(work) for name, work in ways.items()}
        start = perf_counter()
        for done in range(MOST):
            if done >= FEWEST and perf_counter() - start > seconds:
                break
            for name, work in ways.items():
                times[name].append(_sample(work, repeats[name]))
    return times


def _repeats(work: Work) -> int:
    """Calls of one sample; the first of two calls warms up."""
    once(work)
    return min(100, max(1, ceil(SHORTEST / once(work))))


def _sample(work: Work, repeats: int) -> float:
    return sum(once(work) for _ in range(repeats)) / repeats / work.units


def once(work: Work) -> float:
    """Seconds of the work, without what comes before it."""
    work.ready()
    start = perf_counter()
    work.do()
    return perf_counter() - start
