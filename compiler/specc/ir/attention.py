"""Attention as its definition reads: what is projected, normed, placed, masked and scaled. No order
of lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specc.ir.init import Init
from specc.ir.layers import Dropout, Linear, Norm
from specc.ir.positions import AttentionPosition
from specc.ir.sizes import Constant, Size


class AttentionSource(Enum):
    """Where keys and values come from."""

    SELF = "self"
    MEMORY = "memory"


@dataclass(frozen=True)
class InverseSqrt:
    """Scores are divided by sqrt(width)."""

    width: Size


@dataclass(frozen=True)
class Factor:
    """Scores are multiplied by a given number."""

    value: Constant


@dataclass(frozen=True)
class Unscaled:
    """Scores are q k^T as it is."""


Scale = InverseSqrt | Factor | Unscaled


@dataclass(frozen=True)
class SeparateProjections:
    """q, k and v each from a map of their own: [H*E, D], [K*E, D], [K*E, D]."""

    q: Linear
    k: Linear
    v: Linear


@dataclass(frozen=True)
class FusedProjection:
    """One map whose rows are all of q, then all of k, then all of v: [H*E + 2*K*E, D]."""

    qkv: Linear


Projections = SeparateProjections | FusedProjection


class NormOver(Enum):
    """Which features a norm of queries and keys runs over."""

    HEAD = "head"  # each head's E features apart, after the heads are split
    FULL = "full"  # all H*E features together, before the heads are split


@dataclass(frozen=True)
class QkNorm:
    """q and k normed before they are turned and compared."""

    over: NormOver
    q: Norm
    k: Norm


@dataclass(frozen=True)
class Temperature:
    """exp(parameter[h]) multiplies the queries of head h."""

    name: str
    n_heads: Size
    init: Init


@dataclass(frozen=True)
class QkL2Norm:
    """q and k divided by max(their length, eps), head by head (Henry et al. 2020)."""

    eps: Constant
    temperature: Temperature | None


@dataclass(frozen=True)
class Attention:
    """softmax(scale * q k^T + bias, masked) v, query head h reading key/value head h // (H/K)."""

    source: AttentionSource
    causal: bool
    cached: bool
    d_model: Size
    n_heads: Size
    n_kv_heads: Size  # the very n_heads when every head has its own keys
    head_dim: Size
    projections: Projections
    output: Linear
    scale: Scale
    qk_norm: QkNorm | QkL2Norm | None
    position: AttentionPosition | None
    dropout: Dropout | None
    output_dropout: Dropout | None
    gives_weights: bool  # can return the attention weights beside its output

    @property
    def is_grouped(self) -> bool:
        return self.n_kv_heads.name != self.n_heads.name
