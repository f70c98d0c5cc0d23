"""Weights and features that need no storing: element n of everything is a multiple of sin(0.1 n²).

The numbers are float64 from `math.sin`, so that they are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor


def waves(shape: tuple[int, ...], first: int = 0) -> Tensor:
    """sin(0.1 n²) for n = first, first + 1, ..., row by row."""
    count = math.prod(shape)
    values = [math.sin(0.1 * n * n) for n in range(first, first + count)]
    return torch.tensor(values, dtype=torch.float64).view(shape)


def wave_weights(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Tensor]:
    """A weight for each name; n counts on through the names in sorted order.

    Tables are the waves as they are, matrices 1.5 / sqrt(columns) of them, gains 1 + 0.3 and other
    vectors 0.3 of them.
    """
    made: dict[str, Tensor] = {}
    first = 0
    for name in sorted(shapes):
        shape = tuple(shapes[name])
        wave = waves(shape, first)
        first += wave.numel()
        if name.endswith("norm.weight"):
            made[name] = 1 + 0.3 * wave
        elif len(shape) == 1:
            made[name] = 0.3 * wave
        elif "embedding" in name:
            made[name] = wave
        else:
            made[name] = 1.5 / math.sqrt(shape[1]) * wave
    return made
