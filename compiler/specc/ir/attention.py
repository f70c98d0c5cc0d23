"""Attention as its definition reads: what is projected, normed, placed, masked and scaled. No order
of lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specc.ir.init import Init
from specc.ir.layers import Dropout, Linear, Norm
from specc.ir.positions import AttentionPosition, Rotary
from specc.ir.sizes import Constant, Size


class AttentionSource(Enum):
    """Where keys and values come from."""

    SELF = "self"
    MEMORY = "memory"


@dataclass(frozen=True)
class Window:
    """Only near keys. Causal: the last `size`, the query's own counted (query - key < size).

    Both ways: |query - key| <= size. In columns.
    """

    size: Size


@dataclass(frozen=True)
class Chunk:
    """Only keys of the query's own chunk: equal position // size, by mask-counted positions."""

    size: Size


Reach = Window | Chunk


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


@dataclass(frozen=True)
class InverseSqrtSum:
    """Scores are divided by sqrt(the sum of the widths) and, if there is one, multiplied."""

    widths: tuple[Size, ...]
    multiplier: Constant | None


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
    PER_HEAD = "per_head"  # each head's E features apart, each head with a gain of its own


@dataclass(frozen=True)
class QkNorm:
    """q and k normed before they are compared; before they are turned, unless `after_turn`."""

    over: NormOver
    after_turn: bool
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
class Sinks:
    """One learned score a head takes part in the softmax and has no value (Xiao et al. 2023)."""

    name: str
    n_heads: Size
    init: Init


@dataclass(frozen=True)
class PositionTemperature:
    """Queries are multiplied by 1 + coefficient * ln(1 + floor((position + 1) / floor))."""

    floor: Constant
    coefficient: Constant


@dataclass(frozen=True)
class OutputGate:
    """The merged heads are multiplied by sigmoid(projection(x)), feature by feature."""

    projection: Linear


@dataclass(frozen=True)
class Attention:
    """softmax(scale * q k^T + bias, masked) v, query head h reading key/value head h // (H/K)."""

    source: AttentionSource
    causal: bool
    cached: bool  # a cache keeps the keys and values: of all tokens so far, or of the memory
    d_model: Size
    n_heads: Size
    n_kv_heads: Size  # the very n_heads when every head has its own keys
    head_dim: Size
    projections: Projections
    output: Linear
    scale: Scale
    qk_norm: QkNorm | QkL2Norm | None
    position: AttentionPosition | None
    reach: Reach | None
    clip: Constant | None  # q, k and v are clamped to [-clip, clip] as they are projected
    softcap: Constant | None  # scores become cap * tanh(scores / cap) before the mask
    sinks: Sinks | None
    temperature: PositionTemperature | None
    gate: OutputGate | None
    scale_by_layer: bool  # scores are also divided by the layer's number, from 1
    dropout: Dropout | None
    output_dropout: Dropout | None
    gives_weights: bool  # can return the attention weights beside its output

    @property
    def is_grouped(self) -> bool:
        return self.n_kv_heads.name != self.n_heads.name


@dataclass(frozen=True)
class LowRank:
    """up(norm(down(x)))."""

    down: Linear
    norm: Norm
    up: Linear


@dataclass(frozen=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-AI 2024, section 2.1).

    kv_down(x) gives a latent [B, T, L] and one key part [B, T, R] that carries the position and
    serves
    all heads; kv_up(kv_norm(latent)) gives each head N more features of its key, then U of its
    value
    (per head: N, then U). A query head is N features without and then R with a position. The cache
    keeps the normed latent and the turned shared key.
    """

    causal: bool
    cached: bool
    d_model: Size
    n_heads: Size
    nope_dim: Size  # N
    rotary_dim: Size  # R
    value_dim: Size  # U
    kv_rank: Size  # L
    q: Linear | LowRank  # D -> H * (N + R), a head's N before its R
    kv_down: Linear  # D -> L + R
    kv_norm: Norm
    kv_up: Linear  # L -> H * (N + U)
    output: Linear  # H * U -> D
    scale: InverseSqrtSum
    position: Rotary
    reach: Reach | None
    dropout: Dropout | None
    output_dropout: Dropout | None


def kept_window(part: Attention | LatentAttention) -> Size | None:
    """The window that a cache keeps, but for the newest token; None: a cache keeps all, or none is.

    A chunk counts real tokens, and padding among them may stretch it over any number of columns.
    """
    if part.cached and part.causal and isinstance(part.reach, Window):
        return part.reach.size
    return None
