"""From heads to their weighted sums: scores, cap, bias, mask, softmax, one head at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from specc.golden.functions import capped, masked_softmax
from specc.golden.positions import positions
from specc.golden.scope import Scope
from specc.ir.attention import (
    Factor,
    InverseSqrt,
    InverseSqrtSum,
    PositionTemperature,
    Scale,
    Unscaled,
)
from specc.ir.exhaustive import assert_never
from specc.ir.layers import Dropout
from specc.ir.positions import PositionIndex, Rotary


@dataclass(frozen=True)
class Sequence:
    """Features [B, S, D] and which of them are real ([B, S] bool, None: all).

    `capacity` is what a cache has room for, if there is one.
    """

    features: Tensor
    real: Tensor | None
    capacity: int | None = None

    @property
    def batch(self) -> int:
        """How many sequences."""
        return int(self.features.shape[0])

    @property
    def length(self) -> int:
        """How many columns, padding counted."""
        return int(self.features.shape[1])

    @property
    def extent(self) -> int:
        """How many tokens the call makes room for: the cache's capacity, else its own columns."""
        return self.length if self.capacity is None else self.capacity

    def places(self, index: PositionIndex) -> Tensor:
        """[B, S]: where each token stands."""
        return positions(index, self.batch, self.length, self.real)


@dataclass(frozen=True)
class Rule:
    """How scores become weights. One bias and one sink for each query head."""

    scale: float
    allowed: Tensor  # [B or 1, T, S]
    biases: list[Tensor | None]
    softcap: float | None
    sinks: list[Tensor | None]
    dropout: Dropout | None


def weighted_sums(rule: Rule, scope: Scope, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """[B, T, H*U] of q [B, H, T, E], k [B, K, S, E] and v [B, K, S, U]."""
    scope.note_inner("q", q)
    scope.note_inner("k", k)
    weights, heads = [], []
    for h in range(q.shape[1]):
        g = kv_head(h, q.shape[1], k.shape[1])
        scores = head_scores(q[:, h], k[:, g], rule.scale, rule.softcap, rule.biases[h])
        weights.append(masked_softmax(scores, rule.allowed, rule.sinks[h]))
        heads.append(scope.drop(rule.dropout, weights[-1]) @ v[:, g])
    scope.note_inner("weights", torch.stack(weights, 1))
    scope.note_inner("heads", torch.stack(heads, 1))
    return torch.cat(heads, -1)


def head_scores(
    q: Tensor, k: Tensor, scale: float, cap: float | None = None, bias: Tensor | None = None
) -> Tensor:
    """[..., T, S]: scale * q k^T of one head, capped; then the bias, which no cap flattens."""
    scores = scale * (q @ k.transpose(-1, -2))
    if cap is not None:
        scores = capped(scores, cap)
    return scores if bias is None else scores + bias.to(scores.dtype)


def scale_factor(scale: Scale | InverseSqrtSum) -> float:
    """What the dot products are multiplied by."""
    match scale:
        case InverseSqrt(width):
            return 1 / math.sqrt(width.value)
        case Factor(value):
            return value.value
        case Unscaled():
            return 1.0
        case InverseSqrtSum(widths, multiplier):
            factor = 1 / math.sqrt(sum(width.value for width in widths))
            return factor if multiplier is None else factor * multiplier.value
        case _:
            assert_never(scale)


def temperature(part: PositionTemperature, places: Tensor) -> Tensor:
    """[...] float64: 1 + coefficient * ln(1 + floor((place + 1) / floor))."""
    steps = torch.floor((places.to(torch.float64) + 1) / part.floor.value)
    return 1 + part.coefficient.value * torch.log(1 + steps)


def kv_head(head: int, n_heads: int, n_kv_heads: int) -> int:
    """The key/value head that a query head reads: neighbours share (Ainslie et al. 2023)."""
    return head // (n_heads // n_kv_heads)


def split_heads(x: Tensor, width: int) -> Tensor:
    """[B, T, heads * width] -> [B, heads, T, width]: a head is a run of neighbouring features."""
    starts = range(0, x.shape[-1], width)
    return torch.stack([x[..., start : start + width] for start in starts], 1)


def merge_heads(x: Tensor) -> Tensor:
    """[B, heads, T, width] -> [B, T, heads * width]."""
    return torch.cat(list(x.unbind(1)), -1)


def check_length(part: Rotary, length: int) -> None:
    """ValueError for more tokens than the model has places for."""
    if length > part.size.value:
        raise ValueError(f"{length} tokens, but {part.size.name} is {part.size.value}")
