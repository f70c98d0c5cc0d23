"""Where a token stands, and the tables and turns made of it: sinusoids, rotary pairs, ALiBi slopes.

Tables are computed in float64 and rounded once.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from specc.ir.exhaustive import assert_never
from specc.ir.positions import (
    LinearScaling,
    Llama3Scaling,
    PositionIndex,
    Rotary,
    RotaryLayout,
    RotaryScaling,
    SinusoidFrequency,
    SinusoidLayout,
)


def positions(index: PositionIndex, batch: int, length: int, real: Tensor | None) -> Tensor:
    """[B, T] integers: the column, or how many real tokens came before (at least 0)."""
    columns = torch.arange(length).expand(batch, length)
    match index:
        case PositionIndex.ARANGE:
            return columns
        case PositionIndex.MASK:
            if real is None:
                return columns
            before = torch.cumsum(real.to(torch.int64), -1) - 1
            return torch.where(before < 0, torch.zeros_like(before), before)
        case _:
            assert_never(index)


def sinusoids(
    places: Tensor, width: int, layout: SinusoidLayout, frequency: SinusoidFrequency
) -> Tensor:
    """[..., width] float64 of integers [...]: sin, cos of place * frequency (Vaswani et al. 2017).

    An odd width has one sine more than cosines.
    """
    n_sines = (width + 1) // 2
    columns = []
    for k in range(n_sines):
        angle = places.to(torch.float64) * sinusoid_frequency(k, width, frequency)
        columns += [torch.sin(angle), torch.cos(angle)]
    match layout:
        case SinusoidLayout.INTERLEAVED:
            chosen = columns[:width]
        case SinusoidLayout.CONCAT:
            chosen = columns[0::2] + columns[1::2][: width - n_sines]
        case _:
            assert_never(layout)
    return torch.stack(chosen, -1)


def sinusoid_frequency(k: int, width: int, frequency: SinusoidFrequency) -> float:
    """What pair k turns by from one place to the next; ValueError where it has no meaning."""
    match frequency:
        case SinusoidFrequency.TWO_K_OVER_D:
            return float(10000.0 ** (-2 * k / width))
        case SinusoidFrequency.K_OVER_HALF_MINUS_ONE:
            if width % 2 or width < 4:
                raise ValueError(f"frequency k/(half-1) needs an even width of 4 or more: {width}")
            return float(10000.0 ** (-k / (width // 2 - 1)))
        case _:
            assert_never(frequency)


def rotary_frequencies(
    rotary_dim: int, theta: float, scaling: RotaryScaling | None = None
) -> list[float]:
    """theta^(-2k/rotary_dim) for each pair k, scaled (Su et al. 2021)."""
    plain = [theta ** (-2 * k / rotary_dim) for k in range(rotary_dim // 2)]
    match scaling:
        case None:
            return plain
        case LinearScaling(factor):
            return [f / factor.value for f in plain]
        case Llama3Scaling():
            return [llama3_frequency(f, scaling) for f in plain]
        case _:
            assert_never(scaling)


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


def rotary_pairs(layout: RotaryLayout, rotary_dim: int) -> tuple[list[int], list[int]]:
    """The features that turn together: pair k is (first[k], second[k])."""
    half = rotary_dim // 2
    match layout:
        case RotaryLayout.HALF:
            return list(range(half)), list(range(half, 2 * half))
        case RotaryLayout.INTERLEAVED:
            return list(range(0, 2 * half, 2)), list(range(1, 2 * half, 2))
        case _:
            assert_never(layout)


def rotate(x: Tensor, places: Tensor, frequencies: list[float], layout: RotaryLayout) -> Tensor:
    """Turn each pair of x [..., T, E] by places [..., T] * its frequency; the rest passes."""
    first, second = rotary_pairs(layout, 2 * len(frequencies))
    turns = torch.tensor(frequencies, dtype=torch.float64)
    angles = places.to(torch.float64)[..., None] * turns
    cos, sin = torch.cos(angles).to(x.dtype), torch.sin(angles).to(x.dtype)
    a, b = x[..., first], x[..., second]
    rest = list(range(2 * len(frequencies), x.shape[-1]))
    shuffled = torch.cat([a * cos - b * sin, b * cos + a * sin, x[..., rest]], -1)
    order = first + second + rest
    return shuffled[..., [order.index(i) for i in range(x.shape[-1])]]


def turn(part: Rotary, x: Tensor, places: Tensor) -> Tensor:
    """Rotary on x [B, heads, T, E] whose tokens stand at places [B, T]."""
    frequencies = rotary_frequencies(part.rotary_dim.value, part.theta.value, part.scaling)
    return rotate(x, places[:, None, :], frequencies, part.layout)


def alibi_slopes(n_heads: int) -> list[float]:
    """2^(-8h/n), h = 1..n, for a power of two n (Press et al. 2022).

    Else those of the power of two below, then every other one (1st, 3rd, ...) of the power above.
    """
    below = 1 << (n_heads.bit_length() - 1)
    above = _geometric(2 * below)
    return _geometric(below) + above[0::2][: n_heads - below]


def alibi_bias(slope: float, n_queries: int, n_keys: int) -> Tensor:
    """[T, S] float64: -slope * distance in columns, the queries being the last columns."""
    keys = torch.arange(n_keys, dtype=torch.float64)
    queries = torch.arange(n_keys - n_queries, n_keys, dtype=torch.float64)
    return -slope * (keys[None, :] - queries[:, None]).abs()


def _geometric(n: int) -> list[float]:
    return [2.0 ** (-8 * h / n) for h in range(1, n + 1)]
