"""How a parameter is filled before training: data that templates, golden tests and statistics
checks read.
"""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.sizes import Constant, Size


@dataclass(frozen=True)
class Normal:
    """N(0, std^2), or N(0, (std / sqrt(2 * depth))^2) for the outputs of depth-scaled residual
    branches.
    """

    std: Constant
    depth: Size | None = None


@dataclass(frozen=True)
class StandardNormal:
    """N(0, 1): what torch's own `nn.Embedding` starts from."""


@dataclass(frozen=True)
class XavierUniform:
    """U(-a, a) with a = sqrt(6 / (fan_in + fan_out)) (Glorot & Bengio 2010)."""


@dataclass(frozen=True)
class FanInUniform:
    """U(-a, a) with a = 1 / sqrt(fan_in): what torch's own `nn.Linear` starts from, bias too."""


@dataclass(frozen=True)
class Fill:
    """One value everywhere."""

    value: float


@dataclass(frozen=True)
class LogSqrt:
    """ln(sqrt(size)) everywhere: a learned log temperature that starts at sqrt(head_dim)."""

    size: Size


ZEROS = Fill(0.0)
ONES = Fill(1.0)

Init = Normal | StandardNormal | XavierUniform | FanInUniform | Fill | LogSqrt
