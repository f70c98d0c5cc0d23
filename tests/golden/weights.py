"""Random weights that hide no mistake, for models made by hand."""

from __future__ import annotations

import torch
from torch import Tensor

from specc.ir.model import Model
from specc.ir.parameters import parameters


def stress_weights(
    model: Model, seed: int = 0, dtype: torch.dtype = torch.float64
) -> dict[str, Tensor]:
    """Matrices of randn / sqrt(fan in), vectors of randn / 2, gains around 1."""
    generator = torch.Generator().manual_seed(seed)
    made = {}
    for parameter in parameters(model):
        value = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        if parameter.path.endswith("norm.weight"):
            value = 1 + value / 2
        elif len(parameter.shape) == 1:
            value = value / 2
        elif not parameter.path.endswith("embedding.weight"):
            value = value / parameter.shape[-1] ** 0.5
        made[parameter.path] = value.to(dtype)
    return made
