"""Medians, ratios with bootstrap intervals, and geometric means; no clock and no torch."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

RESAMPLES = 2000
TAIL = 0.025  # of each side: an interval of 95 %
SEED = 0


@dataclass(frozen=True)
class Ratio:
    """How many times longer the other side takes: the ratio of medians, and its interval."""

    value: float
    low: float
    high: float

    @property
    def is_slower(self) -> bool:
        """Is ours slower, beyond noise?"""
        return self.high < 1.0

    def reaches(self, least: float) -> bool:
        """At least so many times, noise granted?"""
        return self.high >= least

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f}–{self.high:.2f})"


def ratio(theirs: Sequence[float], ours: Sequence[float], *, paired: bool = True) -> Ratio:
    """Theirs over ours. Paired: samples of one round are drawn together, for they share its noise.

    Raises ValueError for an empty side, or for paired sides of different lengths.
    """
    if not theirs or not ours:
        raise ValueError("a side has no samples")
    if paired and len(theirs) != len(ours):
        raise ValueError(f"{len(theirs)} and {len(ours)} samples are no pairs")
    draws = random.Random(SEED)
    found = []
    for _ in range(RESAMPLES):
        first = draws.choices(range(len(theirs)), k=len(theirs))
        second = first if paired else draws.choices(range(len(ours)), k=len(ours))
        found.append(median(theirs[i] for i in first) / median(ours[i] for i in second))
    found.sort()
    cut = int(TAIL * RESAMPLES)
    return Ratio(median(theirs) / median(ours), found[cut], found[-1 - cut])


def geometric_mean(values: Sequence[float]) -> float:
    """Raises ValueError for no values."""
    if not values:
        raise ValueError("no values have no mean")
    return exp(sum(map(log, values)) / len(values))
