"""Multi-head latent attention by its definition: every head's keys and values are written out."""

from __future__ import annotations

import torch
from torch import Tensor

from specc.golden import masks
from specc.golden.positions import turn
from specc.golden.products import (
    Rule,
    Sequence,
    check_length,
    scale_factor,
    split_heads,
    weighted_sums,
)
from specc.golden.scope import Scope
from specc.ir.attention import LatentAttention, LowRank
from specc.ir.exhaustive import assert_never
from specc.ir.layers import Linear


def latent_attention(part: LatentAttention, scope: Scope, x: Sequence) -> Tensor:
    """[B, T, D] of x [B, T, D] over itself (DeepSeek-AI 2024); `scope` is the attention's own."""
    check_length(part.position, x.length)
    n_heads, nope = part.n_heads.value, part.nope_dim.value
    queries = split_heads(_queries(part, scope, x.features), nope + part.rotary_dim.value)
    down = scope.linear(part.kv_down, x.features)
    latent, shared = down[..., : part.kv_rank.value], down[..., part.kv_rank.value :]
    up = scope.linear(part.kv_up, scope.norm(part.kv_norm, latent))
    content = split_heads(up, nope + part.value_dim.value)
    key = _turned(part, shared[:, None], x)
    q = torch.cat([queries[..., :nope], _turned(part, queries[..., nope:], x)], -1)
    k = torch.cat([content[..., :nope], torch.cat([key] * n_heads, 1)], -1)
    rule = Rule(
        scale=scale_factor(part.scale),
        allowed=masks.over_self(part.causal, x.length, x.real, part.reach),
        biases=[None] * n_heads,
        softcap=None,
        sinks=[None] * n_heads,
        dropout=part.dropout,
    )
    heads = weighted_sums(rule, scope, q, k, content[..., nope:])
    return scope.drop(part.output_dropout, scope.linear(part.output, heads))


def _queries(part: LatentAttention, scope: Scope, x: Tensor) -> Tensor:
    match part.q:
        case Linear():
            return scope.linear(part.q, x)
        case LowRank(down, norm, up):
            return scope.linear(up, scope.norm(norm, scope.linear(down, x)))
        case _:
            assert_never(part.q)


def _turned(part: LatentAttention, x: Tensor, tokens: Sequence) -> Tensor:
    """x [B, heads, T, R] turned as a whole: R is all that carries a position."""
    return turn(part.position, x, tokens.places(part.position.index), tokens.extent)
