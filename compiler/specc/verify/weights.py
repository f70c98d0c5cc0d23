"""Stress weights: named tensors, made from the IR's parameter list alone, that let no mistake hide.

Default init hides errors: gains are 1, biases 0, attention is nearly uniform. Here matrices are
randn / sqrt(fan_in) and everything else is random. `Regime.QUIET` scales them so that norms work
near sqrt(eps) (see `quiet`).
"""

from __future__ import annotations

from enum import Enum
from math import log, sqrt

import torch
from torch import Tensor

from specc.ir.init import Fill, LogSqrt
from specc.ir.model import Model
from specc.ir.parameters import Parameter, parameters
from specc.verify.limits import reach_limits
from specc.verify.quiet import quiet_scaling

# Sizes of what is added to scores that lie between 0 and 1: no expert may win or lose every time.
BALANCING = 0.1


class Regime(Enum):
    """How large the numbers are."""

    STRESS = "stress"
    QUIET = "quiet"


def stress_weights(
    model: Model, regime: Regime = Regime.STRESS, seed: int = 0
) -> dict[str, Tensor]:
    """Path -> float64 tensor for every parameter of the model."""
    generator = torch.Generator().manual_seed(seed)
    weights = {p.path: _fill(p, generator) for p in parameters(model)}
    reach_limits(model, weights)
    if regime is Regime.QUIET:
        scaling = quiet_scaling(model)
        for path, factor in scaling.factors.items():
            weights[path] = weights[path] * factor
        for path, gain in scaling.one_plus.items():
            weights[path] = (1 + weights[path]) * gain - 1
    # What float32 holds exactly: rounding 1 + w for a small gain would be the fixture's error.
    return {path: tensor.float().double() for path, tensor in weights.items()}


def _fill(parameter: Parameter, generator: torch.Generator) -> Tensor:
    noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    if len(parameter.shape) > 1 and not parameter.is_vectors:
        return noise / sqrt(parameter.shape[-1])
    if not parameter.trained:
        return BALANCING * noise
    match parameter.init:
        case Fill(value):
            return value + 0.5 * noise
        case LogSqrt(size):
            return log(sqrt(size.value)) + 0.5 * noise
        case _:
            return 0.5 * noise
