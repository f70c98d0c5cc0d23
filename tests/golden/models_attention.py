"""Small IRs of the rarer parts of attention: reach, sinks, gates, latent keys, scaled rotations."""

from __future__ import annotations

from typing import Any

from specc.ir.attention import (
    Chunk,
    InverseSqrtSum,
    LatentAttention,
    LowRank,
    NormOver,
    OutputGate,
    PositionTemperature,
    QkNorm,
    Sinks,
    Window,
)
from specc.ir.layers import Dropout, DropoutSite, LayerNorm, Linear, NormWeight
from specc.ir.positions import (
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    LongRopeScaling,
    ProportionalScaling,
    RotaryLayout,
    YarnScaling,
)
from specc.ir.sizes import Constant, Size, Vector, Width, width
from tests.golden.models import (
    D_MODEL,
    HEAD_DIM,
    INIT,
    N_HEADS,
    N_KV_HEADS,
    linear,
    rms_norm,
    rotary,
)

NOPE_DIM = Size("nope_head_dim", 6, "N")
ROPE_DIM = Size("rope_head_dim", 4, "R")
VALUE_DIM = Size("value_head_dim", 5, "U")
KV_RANK = Size("kv_rank", 8, "L")
Q_RANK = Size("q_rank", 9, "Q")


def window(size: int) -> Window:
    return Window(Size("attention_window", size, "W"))


def chunk(size: int) -> Chunk:
    return Chunk(Size("attention_chunk", size, "C"))


def sinks(n_heads: Size = N_HEADS) -> Sinks:
    return Sinks("sinks", n_heads, INIT)


def temperature(floor: float = 3.0, coefficient: float = 0.5) -> PositionTemperature:
    return PositionTemperature(
        Constant("temperature_floor", floor), Constant("temperature_coefficient", coefficient)
    )


def gate(n_heads: Size = N_HEADS, head_dim: Size = HEAD_DIM, bias: bool = False) -> OutputGate:
    return OutputGate(linear("gate_proj", width(D_MODEL), width(n_heads, head_dim), bias))


def per_head_norm(
    n_heads: Size = N_HEADS,
    n_kv_heads: Size = N_KV_HEADS,
    head_dim: Size = HEAD_DIM,
    eps: float = 1e-5,
    after_turn: bool = False,
    bias: bool = False,
) -> QkNorm:
    """Layer norms whose gains are each head's own."""

    def norm(name: str, heads: Size) -> LayerNorm:
        constant = Constant("qk_norm_eps", eps)
        return LayerNorm(name, width(head_dim), constant, NormWeight.PLAIN, bias, heads)

    q, k = norm("q_norm", n_heads), norm("k_norm", n_kv_heads)
    return QkNorm(NormOver.PER_HEAD, after_turn, q, k)


def plain_norm_after_turn(head_dim: Size = HEAD_DIM, eps: float = 1e-6) -> QkNorm:
    q, k = (rms_norm(n, width(head_dim), eps, NormWeight.NONE) for n in ("q_norm", "k_norm"))
    return QkNorm(NormOver.HEAD, True, q, k)


def latent(
    *,
    low_rank: bool = True,
    bias: bool = False,
    multiplier: float | None = None,
    window_size: int | None = None,
    eps: float = 1e-6,
    dropout: float = 0.0,
    **rotation: Any,
) -> LatentAttention:
    """`bias`: of the maps down and of the output; `rotation`: what `rotary` takes."""
    d_model, kv_down = width(D_MODEL), Width(((KV_RANK,), (ROPE_DIM,)))
    kv_up = Width(((N_HEADS, NOPE_DIM), (N_HEADS, VALUE_DIM)))
    factor = None if multiplier is None else Constant("attention_scale_multiplier", multiplier)
    p = Constant("dropout", dropout)
    return LatentAttention(
        causal=True,
        cached=True,
        d_model=D_MODEL,
        n_heads=N_HEADS,
        nope_dim=NOPE_DIM,
        rotary_dim=ROPE_DIM,
        value_dim=VALUE_DIM,
        kv_rank=KV_RANK,
        q=_latent_queries(low_rank, bias, eps),
        kv_down=linear("kv_down_proj", d_model, kv_down, bias),
        kv_norm=rms_norm("kv_norm", width(KV_RANK), eps),
        kv_up=linear("kv_up_proj", width(KV_RANK), kv_up, False),
        output=linear("o_proj", width(N_HEADS, VALUE_DIM), d_model, bias),
        scale=InverseSqrtSum((NOPE_DIM, ROPE_DIM), factor),
        position=rotary(**{"layout": RotaryLayout.INTERLEAVED, "head_dim": ROPE_DIM} | rotation),
        reach=None if window_size is None else window(window_size),
        dropout=Dropout("dropout", DropoutSite.ATTENTION, p) if dropout else None,
        output_dropout=Dropout("output_dropout", DropoutSite.ATTENTION_OUT, p) if dropout else None,
    )


def _latent_queries(low_rank: bool, bias: bool, eps: float) -> Linear | LowRank:
    rows = Width(((N_HEADS, NOPE_DIM), (N_HEADS, ROPE_DIM)))
    if not low_rank:
        return linear("q_proj", width(D_MODEL), rows, False)
    return LowRank(
        linear("q_down_proj", width(D_MODEL), width(Q_RANK), bias),
        rms_norm("q_norm", width(Q_RANK), eps),
        linear("q_up_proj", width(Q_RANK), rows, False),
    )


def _factor(value: float) -> Constant:
    return Constant("rope_factor", value)


def _original(value: int) -> Size:
    return Size("rope_original_max_seq_len", value, "O")


def linear_scaling(factor: float) -> LinearScaling:
    return LinearScaling(_factor(factor))


def llama3(factor: float, low: float, high: float, original: int) -> Llama3Scaling:
    return Llama3Scaling(
        _factor(factor),
        Constant("rope_low_freq_factor", low),
        Constant("rope_high_freq_factor", high),
        _original(original),
    )


def dynamic(factor: float, original: int) -> DynamicScaling:
    return DynamicScaling(_factor(factor), _original(original))


def yarn(
    factor: float,
    original: int,
    gain: float = 1.0,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
) -> YarnScaling:
    return YarnScaling(
        _factor(factor),
        _original(original),
        Constant("rope_beta_fast", beta_fast),
        Constant("rope_beta_slow", beta_slow),
        Constant("rope_attention_factor", gain),
        truncate,
    )


def longrope(
    short: tuple[float, ...], long: tuple[float, ...], original: int, gain: float = 1.0
) -> LongRopeScaling:
    return LongRopeScaling(
        Vector("rope_short_factors", short),
        Vector("rope_long_factors", long),
        _original(original),
        Constant("rope_attention_factor", gain),
    )


def proportional() -> ProportionalScaling:
    return ProportionalScaling()
