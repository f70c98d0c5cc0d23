"""Rotary positions as configs write them: `rope_parameters`."""

from __future__ import annotations

from math import log, sqrt

from specc.ir.exhaustive import assert_never
from specc.ir.positions import (
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    LongRopeScaling,
    ProportionalScaling,
    Rotary,
    YarnScaling,
)


def rope(part: Rotary) -> dict[str, object]:
    """The mapping of one kind of layer."""
    share = fraction(part) if _is_partial(part) else 1.0
    return {"rope_theta": part.theta.value, "partial_rotary_factor": share, **_scaling(part)}


def _is_partial(part: Rotary) -> bool:
    return part.is_partial or isinstance(part.scaling, ProportionalScaling)


def fraction(part: Rotary) -> float:
    """A share of a head that truncates to the turned features."""
    return (part.rotary_dim.value + 1e-3) / part.head_dim.value


def _scaling(part: Rotary) -> dict[str, object]:
    match part.scaling:
        case None:
            return {"rope_type": "default"}
        case LinearScaling(factor):
            return {"rope_type": "linear", "factor": factor.value}
        case DynamicScaling(factor, original):
            return {
                "rope_type": "dynamic",
                "factor": factor.value,
                "original_max_position_embeddings": original.value,
            }
        case Llama3Scaling() as scaling:
            return {
                "rope_type": "llama3",
                "factor": scaling.factor.value,
                "low_freq_factor": scaling.low_freq_factor.value,
                "high_freq_factor": scaling.high_freq_factor.value,
                "original_max_position_embeddings": scaling.original_max_seq_len.value,
            }
        case YarnScaling() as scaling:
            return _yarn(scaling)
        case LongRopeScaling() as scaling:
            return {
                "rope_type": "longrope",
                "short_factor": list(scaling.short_factors.values),
                "long_factor": list(scaling.long_factors.values),
                "attention_factor": scaling.attention_factor.value,
                "original_max_position_embeddings": scaling.original_max_seq_len.value,
            }
        case ProportionalScaling():
            return {"rope_type": "proportional"}
        case _:
            assert_never(part.scaling)


def _yarn(scaling: YarnScaling) -> dict[str, object]:
    return {
        "rope_type": "yarn",
        "factor": scaling.factor.value,
        "beta_fast": scaling.beta_fast.value,
        "beta_slow": scaling.beta_slow.value,
        "truncate": scaling.truncate,
        "attention_factor": scaling.attention_factor.value,
        "original_max_position_embeddings": scaling.original_max_seq_len.value,
    }


def mscale_all_dim(multiplier: float, factor: float) -> float:
    """The s for which (0.1 s ln factor + 1)^2 is what the scores are multiplied by."""
    return (sqrt(multiplier) - 1) / (0.1 * log(factor))
