"""Attention by its definition: a loop over heads, each with mask, softmax and weighted sum."""

from __future__ import annotations

import torch
from torch import Tensor

from specc.golden import masks
from specc.golden.functions import sigmoid
from specc.golden.norms import l2_scaled
from specc.golden.positions import alibi_bias, alibi_slopes, turn
from specc.golden.products import (
    Rule,
    Sequence,
    check_length,
    merge_heads,
    scale_factor,
    split_heads,
    temperature,
    weighted_sums,
)
from specc.golden.scope import Scope
from specc.ir.attention import (
    Attention,
    AttentionSource,
    FusedProjection,
    NormOver,
    OutputGate,
    QkL2Norm,
    QkNorm,
    SeparateProjections,
    Sinks,
)
from specc.ir.exhaustive import assert_never
from specc.ir.positions import Alibi, PositionIndex, Rotary


def attention(part: Attention, scope: Scope, x: Sequence, memory: Sequence | None) -> Tensor:
    """[B, T, D] of x [B, T, D] over itself or over a memory; `scope` is the attention's own."""
    source = _source(part, scope, x, memory)
    q, k, v = _project(part, scope, x.features, source.features)
    q, k = _placed(part, scope, q, k, x)
    rule = Rule(
        scale=_scale(part, scope),
        allowed=_allowed(part, x, source),
        biases=_biases(part, x.length, source.length),
        softcap=None if part.softcap is None else part.softcap.value,
        sinks=_sinks(part.sinks, part.n_heads.value, scope),
        dropout=part.dropout,
    )
    heads = weighted_sums(rule, scope, q, k, split_heads(v, part.head_dim.value))
    heads = _gated(part.gate, scope, heads, x.features)
    return scope.drop(part.output_dropout, scope.linear(part.output, heads))


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
    """q [B, T, H*E], k and v [B, S, K*E], clamped if the part clamps them."""
    match part.projections:
        case SeparateProjections(q, k, v):
            made = [scope.linear(q, x), scope.linear(k, source), scope.linear(v, source)]
        case FusedProjection():
            made = _fused(part, part.projections, scope, x, source)
        case _:
            assert_never(part.projections)
    if part.clip is not None:
        made = [y.clamp(-part.clip.value, part.clip.value) for y in made]
    return made[0], made[1], made[2]


def _fused(
    part: Attention, projection: FusedProjection, scope: Scope, x: Tensor, source: Tensor
) -> list[Tensor]:
    qkv = projection.qkv
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
    return made


def _placed(
    part: Attention, scope: Scope, q: Tensor, k: Tensor, x: Sequence
) -> tuple[Tensor, Tensor]:
    """q [B, T, H*E] and k [B, S, K*E] as heads [B, heads, length, E]: normed, turned, tempered."""
    width = part.head_dim.value
    norms_later = isinstance(part.qk_norm, QkNorm) and part.qk_norm.after_turn
    if not norms_later:
        q, k = _normed(part, scope, q, k)
    q, k = split_heads(q, width), split_heads(k, width)
    if isinstance(part.position, Rotary):
        check_length(part.position, x.length)
        places = x.places(part.position.index)
        q, k = (turn(part.position, heads, places, x.extent) for heads in (q, k))
    if norms_later:
        q, k = _normed(part, scope, merge_heads(q), merge_heads(k))
        q, k = split_heads(q, width), split_heads(k, width)
    if isinstance(part.qk_norm, QkL2Norm) and part.qk_norm.temperature is not None:
        q = q * torch.exp(scope.weight(part.qk_norm.temperature.name))[:, None, None]
    if part.temperature is not None:
        factors = temperature(part.temperature, x.places(PositionIndex.MASK))
        q = q * factors.to(q.dtype)[:, None, :, None]
    return q, k


def _normed(part: Attention, scope: Scope, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
    """q [B, T, H*E] and k [B, S, K*E], normed."""
    norm, width = part.qk_norm, part.head_dim.value
    if norm is None:
        return q, k
    if isinstance(norm, QkNorm) and norm.over is NormOver.FULL:
        return scope.unnoted_norm(norm.q, q), scope.unnoted_norm(norm.k, k)
    q, k = split_heads(q, width), split_heads(k, width)
    match norm:
        case QkNorm(_, _, q_norm, k_norm):
            q, k = scope.unnoted_norm(q_norm, q), scope.unnoted_norm(k_norm, k)
        case QkL2Norm(eps, _):
            q, k = l2_scaled(q, eps.value), l2_scaled(k, eps.value)
        case _:
            assert_never(norm)
    return merge_heads(q), merge_heads(k)


def _scale(part: Attention, scope: Scope) -> float:
    factor = scale_factor(part.scale)
    return factor / scope.layer if part.scale_by_layer else factor


def _allowed(part: Attention, x: Sequence, source: Sequence) -> Tensor:
    match part.source:
        case AttentionSource.SELF:
            return masks.over_self(part.causal, x.length, x.real, part.reach)
        case AttentionSource.MEMORY:
            if part.reach is not None:
                raise ValueError("no place of a memory is near a query or far from it")
            return masks.over_memory(x.length, source.length, source.real)
        case _:
            assert_never(part.source)


def _biases(part: Attention, n_queries: int, n_keys: int) -> list[Tensor | None]:
    if not isinstance(part.position, Alibi):
        return [None] * part.n_heads.value
    return [alibi_bias(s, n_queries, n_keys) for s in alibi_slopes(part.n_heads.value)]


def _sinks(part: Sinks | None, n_heads: int, scope: Scope) -> list[Tensor | None]:
    return [None] * n_heads if part is None else list(scope.weight(part.name).unbind())


def _gated(part: OutputGate | None, scope: Scope, heads: Tensor, x: Tensor) -> Tensor:
    return heads if part is None else heads * sigmoid(scope.linear(part.projection, x))
