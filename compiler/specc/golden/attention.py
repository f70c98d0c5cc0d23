"""Attention by its definition: a loop over heads, each with mask, softmax and weighted sum."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from specc.golden import masks
from specc.golden.functions import masked_softmax
from specc.golden.norms import l2_scaled
from specc.golden.positions import alibi_bias, alibi_slopes, positions, turn
from specc.golden.scope import Scope
from specc.ir.attention import (
    Attention,
    AttentionSource,
    Factor,
    FusedProjection,
    InverseSqrt,
    NormOver,
    QkL2Norm,
    QkNorm,
    Scale,
    SeparateProjections,
    Unscaled,
)
from specc.ir.exhaustive import assert_never
from specc.ir.positions import Alibi, Rotary


@dataclass(frozen=True)
class Sequence:
    """Features [B, S, D] and which of them are real ([B, S] bool, None: all)."""

    features: Tensor
    real: Tensor | None

    @property
    def batch(self) -> int:
        """How many sequences."""
        return int(self.features.shape[0])

    @property
    def length(self) -> int:
        """How many columns, padding counted."""
        return int(self.features.shape[1])


def attention(part: Attention, scope: Scope, x: Sequence, memory: Sequence | None) -> Tensor:
    """[B, T, D] of x [B, T, D] over itself or over a memory; `scope` is the attention's own."""
    source = _source(part, scope, x, memory)
    q, k, v = _project(part, scope, x.features, source.features)
    q, k = _normed(part, scope, q, k)
    q, k = _placed(part, scope, q, k, x)
    v = split_heads(v, part.head_dim.value)
    scope.note_inner("q", q)
    scope.note_inner("k", k)
    allowed = _allowed(part, x, source)
    biases = _biases(part, x.length, source.length)
    scale = scale_factor(part.scale)
    weights, heads = [], []
    for h in range(part.n_heads.value):
        g = kv_head(h, part.n_heads.value, part.n_kv_heads.value)
        scores = head_scores(q[:, h], k[:, g], scale, biases[h])
        weights.append(masked_softmax(scores, allowed))
        heads.append(scope.drop(part.dropout, weights[-1]) @ v[:, g])
    scope.note_inner("weights", torch.stack(weights, 1))
    scope.note_inner("heads", torch.stack(heads, 1))
    return scope.drop(part.output_dropout, scope.linear(part.output, torch.cat(heads, -1)))


def head_scores(q: Tensor, k: Tensor, scale: float, bias: Tensor | None = None) -> Tensor:
    """[..., T, S]: scale * q k^T (+ bias) of one head."""
    scores = scale * (q @ k.transpose(-1, -2))
    return scores if bias is None else scores + bias.to(scores.dtype)


def scale_factor(scale: Scale) -> float:
    """What the dot products are multiplied by."""
    match scale:
        case InverseSqrt(width):
            return 1 / math.sqrt(width.value)
        case Factor(value):
            return value.value
        case Unscaled():
            return 1.0
        case _:
            assert_never(scale)


def kv_head(head: int, n_heads: int, n_kv_heads: int) -> int:
    """The key/value head that a query head reads: neighbours share (Ainslie et al. 2023)."""
    return head // (n_heads // n_kv_heads)


def split_heads(x: Tensor, width: int) -> Tensor:
    """[B, T, heads * width] -> [B, heads, T, width]: a head is a run of neighbouring features."""
    starts = range(0, x.shape[-1], width)
    return torch.stack([x[..., start : start + width] for start in starts], 1)


def _source(part: Attention, scope: Scope, x: Sequence, memory: Sequence | None) -> Sequence:
    match part.source:
        case AttentionSource.SELF:
            return x
        case AttentionSource.MEMORY:
            if memory is None:
                raise ValueError(f"{scope.path} reads a memory, and the model has none")
            return memory
        case _:
            assert_never(part.source)


def _project(
    part: Attention, scope: Scope, x: Tensor, source: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    match part.projections:
        case SeparateProjections(q, k, v):
            return scope.linear(q, x), scope.linear(k, source), scope.linear(v, source)
        case FusedProjection(qkv):
            n_q = part.n_heads.value * part.head_dim.value
            n_kv = part.n_kv_heads.value * part.head_dim.value
            rows = (slice(n_q), slice(n_q, n_q + n_kv), slice(n_q + n_kv, None))
            matrix = scope.weight(f"{qkv.name}.weight")
            made = [y @ matrix[r].T for y, r in zip((x, source, source), rows, strict=True)]
            if qkv.bias:
                bias = scope.weight(f"{qkv.name}.bias")
                made = [y + bias[r] for y, r in zip(made, rows, strict=True)]
            if part.source is AttentionSource.SELF:
                scope.note(qkv.name, torch.cat(made, -1))
            return made[0], made[1], made[2]
        case _:
            assert_never(part.projections)


def _normed(part: Attention, scope: Scope, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """q [B, T, H*E] and k [B, S, K*E], normed, as heads [B, H, T, E] and [B, K, S, E]."""
    width = part.head_dim.value
    norm = part.qk_norm
    if isinstance(norm, QkNorm) and norm.over is NormOver.FULL:
        q, k = scope.unnoted_norm(norm.q, q), scope.unnoted_norm(norm.k, k)
    q, k = split_heads(q, width), split_heads(k, width)
    match norm:
        case QkNorm(NormOver.HEAD, _, q_norm, k_norm):
            return scope.unnoted_norm(q_norm, q), scope.unnoted_norm(k_norm, k)
        case QkL2Norm(eps, _):
            return l2_scaled(q, eps.value), l2_scaled(k, eps.value)
        case QkNorm() | None:
            return q, k
        case _:
            assert_never(norm)


def _placed(
    part: Attention, scope: Scope, q: Tensor, k: Tensor, x: Sequence
) -> tuple[Tensor, Tensor]:
    """q and k [B, heads, length, E] after rotary turns and the temperature."""
    if isinstance(part.position, Rotary):
        _check_length(part.position, x.length)
        places = positions(part.position.index, x.batch, x.length, x.real)
        q, k = turn(part.position, q, places), turn(part.position, k, places)
    if isinstance(part.qk_norm, QkL2Norm) and part.qk_norm.temperature is not None:
        q = q * torch.exp(scope.weight(part.qk_norm.temperature.name))[:, None, None]
    return q, k


def _check_length(part: Rotary, length: int) -> None:
    if length > part.size.value:
        raise ValueError(f"{length} tokens, but {part.size.name} is {part.size.value}")


def _allowed(part: Attention, x: Sequence, source: Sequence) -> Tensor:
    match part.source:
        case AttentionSource.SELF:
            return masks.over_self(part.causal, x.length, x.real)
        case AttentionSource.MEMORY:
            return masks.over_memory(x.length, source.length, source.real)
        case _:
            assert_never(part.source)


def _biases(part: Attention, n_queries: int, n_keys: int) -> list[Tensor | None]:
    if not isinstance(part.position, Alibi):
        return [None] * part.n_heads.value
    return [alibi_bias(s, n_queries, n_keys) for s in alibi_slopes(part.n_heads.value)]
