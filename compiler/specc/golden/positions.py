"""Where a token stands, and the tables and turns made of it: sinusoids, rotary pairs, ALiBi slopes.

Tables are computed in float64 and rounded once.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specc.golden.frequencies import Turns, turns
from specc.ir.exhaustive import assert_never
from specc.ir.positions import (
    PositionIndex,
    Rotary,
    RotaryLayout,
    RotarySlice,
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
        case PositionIndex.IDS:
            raise ValueError("ids are counted where they are read, by learned positions only")
        case _:
            assert_never(index)


def id_positions(ids: Tensor, pad_id: int) -> Tensor:
    """[B, T] integers: how many ids before it are not the padding id; -1 for a padding id."""
    counts = ids != pad_id
    before = torch.cumsum(counts.to(torch.int64), -1) - 1
    return torch.where(counts, before, torch.full_like(before, -1))


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


def rotate(x: Tensor, places: Tensor, made: Turns, layout: RotaryLayout) -> Tensor:
    """Turn each pair of x [..., T, E] by places [..., T] * its frequency; the rest passes."""
    first, second = rotary_pairs(layout, 2 * len(made.frequencies))
    angles = places.to(torch.float64)[..., None] * torch.tensor(
        made.frequencies, dtype=torch.float64
    )
    cos, sin = (made.gain * torch.cos(angles)).to(x.dtype), (made.gain * torch.sin(angles)).to(
        x.dtype
    )
    a, b = x[..., first], x[..., second]
    rest = list(range(2 * len(made.frequencies), x.shape[-1]))
    shuffled = torch.cat([a * cos - b * sin, b * cos + a * sin, x[..., rest]], -1)
    order = first + second + rest
    return shuffled[..., [order.index(i) for i in range(x.shape[-1])]]


def turn(part: Rotary, x: Tensor, places: Tensor, extent: int) -> Tensor:
    """Rotary on x [B, heads, T, E] whose tokens stand at places [B, T] of a call of that extent."""
    made = turns(part, extent)
    match part.slice:
        case RotarySlice.FIRST:
            before = 0
        case RotarySlice.LAST:
            before = x.shape[-1] - 2 * len(made.frequencies)
        case _:
            assert_never(part.slice)
    turned = rotate(x[..., before:], places[:, None, :], made, part.layout)
    return torch.cat([x[..., :before], turned], -1)


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
