"""What mean and spread each parameter starts from, by the formula of its initialisation."""

from __future__ import annotations

import math
from dataclasses import dataclass

from specc.ir.exhaustive import assert_never
from specc.ir.init import (
    FanInUniform,
    Fill,
    Init,
    LogSqrt,
    Normal,
    StandardNormal,
    XavierUniform,
)
from specc.ir.model import Model
from specc.ir.parameters import parameters


@dataclass(frozen=True)
class Moments:
    """A mean, a standard deviation, and how far from the mean a value can lie."""

    mean: float
    std: float
    bound: float


def initial_moments(model: Model) -> dict[str, Moments]:
    """Path -> moments of every parameter. A bias has the fan-in of the weight beside it."""
    shapes = {parameter.path: parameter.shape for parameter in parameters(model)}
    found = {}
    for parameter in parameters(model):
        shape = shapes.get(_weight_beside(parameter.path), parameter.shape)
        found[parameter.path] = moments(parameter.init, shape)
    return found


def _weight_beside(path: str) -> str:
    """The matrix that a bias belongs to; a stack of matrices has the bias's name without _bias."""
    if path.endswith("_bias"):
        return path.removesuffix("_bias")
    return path.removesuffix("bias") + "weight" if path.endswith(".bias") else path


def moments(init: Init, shape: tuple[int, ...]) -> Moments:
    """The moments of matrices [..., outputs, inputs], or of the bias beside them."""
    match init:
        case Normal(std, depth):
            spread = std.value if depth is None else std.value / math.sqrt(2 * depth.value)
            return Moments(0.0, spread, math.inf)
        case StandardNormal():
            return Moments(0.0, 1.0, math.inf)
        case XavierUniform():
            return _uniform(math.sqrt(6 / (shape[-2] + shape[-1])))
        case FanInUniform():
            return _uniform(1 / math.sqrt(shape[-1]))
        case Fill(value):
            return Moments(value, 0.0, 0.0)
        case LogSqrt(size):
            return Moments(math.log(math.sqrt(size.value)), 0.0, 0.0)
        case _:
            assert_never(init)


def _uniform(bound: float) -> Moments:
    return Moments(0.0, bound / math.sqrt(3), bound)
