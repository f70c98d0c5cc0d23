"""Scalings of rotary frequencies that need an original length, with what follows worked out."""

from __future__ import annotations

from math import log, sqrt

from specc.ir.exhaustive import assert_never
from specc.ir.positions import DynamicScaling, LongRopeScaling, RotaryScaling, YarnScaling
from specc.ir.sizes import Constant, Size, Vector
from specc.lower.context import Context
from specc.lower.names import RelativePath
from specc.spec import schema

_PATH: RelativePath = ("position", "scaling")


def call_scaling(
    context: Context,
    node: schema.DynamicScaling | schema.YarnScaling | schema.LongRopeScaling,
) -> RotaryScaling:
    """The IR of a scaling that depends on an original length."""
    original = _size(context, "original_max_seq_len", node.original_max_seq_len)
    match node:
        case schema.DynamicScaling():
            return DynamicScaling(_constant(context, "factor", node.factor), original)
        case schema.YarnScaling():
            return YarnScaling(
                factor=_constant(context, "factor", node.factor),
                original_max_seq_len=original,
                beta_fast=_constant(context, "beta_fast", node.beta_fast),
                beta_slow=_constant(context, "beta_slow", node.beta_slow),
                attention_factor=_constant(context, "attention_factor", yarn_attention(node)),
                truncate=node.truncate,
            )
        case schema.LongRopeScaling():
            factor = longrope_attention(node, context.spec.max_seq_len or 0)
            return LongRopeScaling(
                short_factors=_vector(context, "short_factors", node.short_factors),
                long_factors=_vector(context, "long_factors", node.long_factors),
                original_max_seq_len=original,
                attention_factor=_constant(context, "attention_factor", factor),
            )
        case _:
            assert_never(node)


def yarn_attention(node: schema.YarnScaling) -> float:
    """What cos and sin are multiplied by (Peng et al. 2023, section 3.4; DeepSeek-AI 2024)."""
    if node.attention_factor is not None:
        return node.attention_factor
    if node.mscale is not None and node.mscale_all_dim is not None:
        return _growth(node.factor, node.mscale) / _growth(node.factor, node.mscale_all_dim)
    return _growth(node.factor, 1.0)


def _growth(factor: float, mscale: float) -> float:
    return 0.1 * mscale * log(factor) + 1.0 if factor > 1 else 1.0


def longrope_attention(node: schema.LongRopeScaling, max_seq_len: int) -> float:
    """What cos and sin are multiplied by (Ding et al. 2024)."""
    if node.attention_factor is not None:
        return node.attention_factor
    factor = max_seq_len / node.original_max_seq_len
    return sqrt(1 + log(factor) / log(node.original_max_seq_len)) if factor > 1 else 1.0


def _constant(context: Context, field: str, value: float) -> Constant:
    return context.constant(f"rope_{field}", value, (*_PATH, field))


def _size(context: Context, field: str, value: int) -> Size:
    name = f"rope_{field}"
    return context.size(name, value, name, (*_PATH, field))


def _vector(context: Context, field: str, values: tuple[float, ...]) -> Vector:
    return context.vector(f"rope_{field}", values, (*_PATH, field))
