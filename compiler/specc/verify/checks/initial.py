"""Initial values against the spec's scheme: constants exactly, random ones by their statistics."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt

import torch
from torch import Tensor, nn

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
from specc.ir.parameters import Parameter, parameters
from specc.verify.checks.check import Check, counted
from specc.verify.live import reset
from specc.verify.report import Outcome, failed, passed
from specc.verify.subject import Subject

DRAWS = 8
SIGMAS = 5.0  # how many standard errors a statistic may lie off


@dataclass(frozen=True)
class InitStatistics(Check):
    """Each parameter starts from the spec's distribution."""

    name: str = "init_statistics"

    def run(self, subject: Subject) -> Outcome:
        """Draws every parameter several times."""
        live = subject.build()
        drawn = _draws(live)
        shapes = {p.path: p.shape for p in parameters(subject.small)}
        n_random = 0
        for parameter in parameters(subject.small):
            values = drawn[parameter.path]
            fault = _fault(parameter, values, shapes)
            if fault is not None:
                return failed(f"{parameter.path}: {fault}")
            n_random += _is_random(parameter.init)
        n_fixed = len(shapes) - n_random
        return passed(
            f"{counted(n_random, 'random tensor')} within {SIGMAS:.0f} standard errors,"
            f" {counted(n_fixed, 'constant one')} exact"
        )


def _draws(live: nn.Module) -> dict[str, Tensor]:
    drawn: dict[str, list[Tensor]] = {name: [] for name in live.state_dict()}
    for _ in range(DRAWS):
        reset(live)
        for name, tensor in live.state_dict().items():
            drawn[name].append(tensor.flatten().clone())
    return {name: torch.cat(values) for name, values in drawn.items()}


def _is_random(init: Init) -> bool:
    return not isinstance(init, Fill | LogSqrt)


def _fault(parameter: Parameter, values: Tensor, shapes: dict[str, tuple[int, ...]]) -> str | None:
    match parameter.init:
        case Fill(value):
            return _constant_fault(values, value)
        case LogSqrt(size):
            return _constant_fault(values, log(sqrt(size.value)))
        case Normal(std, depth):
            scale = 1.0 if depth is None else 1 / sqrt(2 * depth.value)
            return _normal_fault(values, std.value * scale)
        case StandardNormal():
            return _normal_fault(values, 1.0)
        case XavierUniform():
            return _uniform_fault(values, sqrt(6 / sum(parameter.shape[-2:])))
        case FanInUniform():
            return _uniform_fault(values, 1 / sqrt(shapes[_weight_of(parameter.path)][-1]))
        case _:
            assert_never(parameter.init)


def _weight_of(path: str) -> str:
    """The matrix that a bias belongs to, or the matrix itself."""
    if path.endswith("_bias"):
        return path.removesuffix("_bias")
    return f"{path.removesuffix('.bias')}.weight" if path.endswith(".bias") else path


def _constant_fault(values: Tensor, wanted: float) -> str | None:
    gap = (values - wanted).abs().max().item()
    if gap > 1e-7 * max(1.0, abs(wanted)):
        return f"starts at {values[0].item():.6g}, not at {wanted:.6g} everywhere"
    return None


def _normal_fault(values: Tensor, std: float) -> str | None:
    n = values.numel()
    return _moments_fault(values, std, 1 / sqrt(2 * n)) or (
        f"no value beyond 2 std among {n}: not normal"
        if n > 500 and values.abs().max().item() < 2 * std
        else None
    )


def _uniform_fault(values: Tensor, bound: float) -> str | None:
    largest = values.abs().max().item()
    if largest > bound * (1 + 1e-6):
        return f"reaches {largest:.4g}, beyond the bound {bound:.4g}"
    return _moments_fault(values, bound / sqrt(3), sqrt(0.2 / values.numel()))


def _moments_fault(values: Tensor, std: float, error: float) -> str | None:
    """Mean and std; `error` is the relative standard error of the std."""
    found = values.square().mean().sqrt().item()
    if abs(found / std - 1) > SIGMAS * error:
        return f"std {found:.4g}, not {std:.4g} (sampling error {error:.1%})"
    mean = values.mean().item()
    if abs(mean) > SIGMAS * std / sqrt(values.numel()):
        return f"mean {mean:.4g}, not 0 (std {std:.4g}, {values.numel()} values)"
    return None
