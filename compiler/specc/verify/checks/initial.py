"""Initial values against the spec's scheme: constants exactly, random ones by their statistics."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log, sqrt

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
        every = parameters(subject.small)
        shapes = {p.path: p.shape for p in every}
        faults = [_fault(p, drawn[p.path], shapes) for p in every]
        worst = max((f for f in faults if f is not None), key=lambda f: f.margin, default=None)
        if worst is not None:
            return failed(worst.text, None if worst.margin == inf else worst.margin)
        n_random = sum(_is_random(p.init) for p in every)
        return passed(
            f"{counted(n_random, 'random tensor')} within {SIGMAS:.0f} standard errors,"
            f" {counted(len(shapes) - n_random, 'constant one')} exact"
        )


@dataclass(frozen=True)
class _Fault:
    """What is wrong with one parameter, and how many times the limit."""

    text: str
    margin: float


def _draws(live: nn.Module) -> dict[str, Tensor]:
    drawn: dict[str, list[Tensor]] = {name: [] for name in live.state_dict()}
    for _ in range(DRAWS):
        reset(live)
        for name, tensor in live.state_dict().items():
            drawn[name].append(tensor.flatten().clone())
    return {name: torch.cat(values) for name, values in drawn.items()}


def _is_random(init: Init) -> bool:
    return not isinstance(init, Fill | LogSqrt)


def _fault(
    parameter: Parameter, values: Tensor, shapes: dict[str, tuple[int, ...]]
) -> _Fault | None:
    fault = _fault_of(parameter, values, shapes)
    return None if fault is None else _Fault(f"{parameter.path}: {fault.text}", fault.margin)


def _fault_of(
    parameter: Parameter, values: Tensor, shapes: dict[str, tuple[int, ...]]
) -> _Fault | None:
    if not bool(values.isfinite().all()):
        return _Fault("starts with what is no number", inf)
    first, second, *_ = values.view(DRAWS, -1)
    if _is_random(parameter.init) and torch.equal(first, second):
        return _Fault("keeps its values when reset: reset_parameters does not draw them", inf)
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


def _constant_fault(values: Tensor, wanted: float) -> _Fault | None:
    gap, limit = (values - wanted).abs().max().item(), 1e-7 * max(1.0, abs(wanted))
    if gap > limit:
        text = f"starts at {values[0].item():.6g}, not at {wanted:.6g} everywhere"
        return _Fault(text, gap / limit)
    return None


def _normal_fault(values: Tensor, std: float) -> _Fault | None:
    n, largest = values.numel(), values.abs().max().item()
    fault = _moments_fault(values, std, 1 / sqrt(2 * n))
    if fault is None and n > 500 and largest < 2 * std:
        return _Fault(f"no value beyond 2 std among {n}: not normal", 2 * std / largest)
    return fault


def _uniform_fault(values: Tensor, bound: float) -> _Fault | None:
    return _moments_fault(values, bound / sqrt(3), sqrt(0.2 / values.numel())) or (
        _bound_fault(values.abs().max().item(), bound)
    )


def _bound_fault(largest: float, bound: float) -> _Fault | None:
    limit = 1e-6
    if largest <= bound * (1 + limit):
        return None
    return _Fault(
        f"reaches {largest:.4g}, beyond the bound {bound:.4g}", (largest / bound - 1) / limit
    )


def _moments_fault(values: Tensor, std: float, error: float) -> _Fault | None:
    """Mean and std; `error` is the relative standard error of the std."""
    found = values.square().mean().sqrt().item()
    spread = abs(found / std - 1) / (SIGMAS * error)
    if spread > 1:
        text = f"std {found:.4g}, not {std:.4g} (sampling error {error:.1%})"
        return _Fault(text, spread)
    mean = values.mean().item()
    shift = abs(mean) * sqrt(values.numel()) / (SIGMAS * std)
    if shift > 1:
        return _Fault(f"mean {mean:.4g}, not 0 (std {std:.4g}, {values.numel()} values)", shift)
    return None
