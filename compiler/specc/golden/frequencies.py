"""How fast each pair of features turns: theta's powers, and the ways to scale them for longer
texts.

Two ways depend on the call: they look at how many tokens it makes room for (its extent).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from specc.ir.exhaustive import assert_never
from specc.ir.positions import (
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    LongRopeScaling,
    ProportionalScaling,
    Rotary,
    YarnScaling,
)


@dataclass(frozen=True)
class Turns:
    """What each pair turns by from one place to the next; cos and sin are multiplied by `gain`."""

    frequencies: list[float]
    gain: float = 1.0


def rotary_frequencies(rotary_dim: int, theta: float) -> list[float]:
    """theta^(-2k/rotary_dim) for each pair k (Su et al. 2021)."""
    return [theta ** (-2 * k / rotary_dim) for k in range(rotary_dim // 2)]


def turns(part: Rotary, extent: int = 0) -> Turns:
    """The scaled frequencies of a call that makes room for `extent` tokens."""
    width, theta = part.rotary_dim.value, part.theta.value
    plain = rotary_frequencies(width, theta)
    match part.scaling:
        case None:
            return Turns(plain)
        case LinearScaling(factor):
            return Turns([f / factor.value for f in plain])
        case Llama3Scaling():
            return Turns([llama3_frequency(f, part.scaling) for f in plain])
        case DynamicScaling():
            return Turns(rotary_frequencies(width, dynamic_theta(part.scaling, part, extent)))
        case YarnScaling():
            return Turns(yarn_frequencies(part.scaling, part), part.scaling.attention_factor.value)
        case LongRopeScaling(short, long, original, gain):
            factors = long if extent > original.value else short
            if len(factors.values) != len(plain):
                found = f"{factors.name} has {len(factors.values)} factors"
                raise ValueError(f"{found} for {len(plain)} pairs")
            return Turns([f / s for f, s in zip(plain, factors.values, strict=True)], gain.value)
        case ProportionalScaling():
            whole = rotary_frequencies(part.head_dim.value, theta)
            return Turns([f if 2 * k < width else 0.0 for k, f in enumerate(whole)])
        case _:
            assert_never(part.scaling)


def llama3_frequency(frequency: float, scaling: Llama3Scaling) -> float:
    """Waves beyond original/low slowed by factor, below original/high kept, between a blend."""
    wavelength = 2 * math.pi / frequency
    original = scaling.original_max_seq_len.value
    low, high = scaling.low_freq_factor.value, scaling.high_freq_factor.value
    slow = frequency / scaling.factor.value
    if wavelength > original / low:
        return slow
    if wavelength < original / high:
        return frequency
    share = (original / wavelength - low) / (high - low)
    return (1 - share) * slow + share * frequency


def dynamic_theta(scaling: DynamicScaling, part: Rotary, extent: int) -> float:
    """theta * (f S/M - (f - 1))^(r/(r-2)) for an extent S beyond M, theta up to it."""
    theta, width = part.theta.value, part.rotary_dim.value
    original, factor = scaling.original_max_seq_len.value, scaling.factor.value
    if extent <= original:
        return theta
    if width < 4:
        raise ValueError(f"dynamic scaling needs two pairs or more, got {width} features")
    growth = factor * extent / original - (factor - 1)
    return float(theta * growth ** (width / (width - 2)))


def yarn_frequencies(scaling: YarnScaling, part: Rotary) -> list[float]:
    """Pairs before the ramp kept, those after it slowed, a blend on it (Peng et al. 2023)."""
    first, last = yarn_ramp(scaling, part)
    made = []
    for k, frequency in enumerate(rotary_frequencies(part.rotary_dim.value, part.theta.value)):
        slow = frequency / scaling.factor.value
        share = float(k > first) if first == last else (k - first) / (last - first)
        share = min(max(share, 0.0), 1.0)
        made.append(slow * share + frequency * (1 - share))
    return made


def yarn_ramp(scaling: YarnScaling, part: Rotary) -> tuple[float, float]:
    """The pairs whose waves fit beta_fast and beta_slow times into the original length.

    A ramp of no length is a step.
    """
    width, theta = part.rotary_dim.value, part.theta.value

    def pair(n_turns: float) -> float:
        fits = scaling.original_max_seq_len.value / (2 * math.pi * n_turns)
        return width * math.log(fits) / (2 * math.log(theta))

    first, last = pair(scaling.beta_fast.value), pair(scaling.beta_slow.value)
    if scaling.truncate:
        first, last = math.floor(first), math.ceil(last)
    return min(max(first, 0), width - 1), min(max(last, 0), width - 1)
