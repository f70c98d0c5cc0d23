"""Checks against golden: outputs and gradients, under stress weights, in float64 and float32."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from specc.verify.calls import call, flat, scalar
from specc.verify.checks.check import Check, counted
from specc.verify.inputs import cast
from specc.verify.metrics import joint_error, margin, worst_error
from specc.verify.report import Outcome, failed, passed
from specc.verify.subject import Case, Subject
from specc.verify.trace import first_difference, recorded
from specc.verify.weights import Regime


def short(dtype: torch.dtype) -> str:
    """`float32`."""
    return str(dtype).removeprefix("torch.")


@dataclass(frozen=True)
class ForwardParity(Check):
    """The file computes what the spec means, all outputs, with and without padding."""

    dtype: torch.dtype
    limit: float

    @property
    def name(self) -> str:
        """One check a dtype."""
        return f"forward_{short(self.dtype)}"

    def run(self, subject: Subject) -> Outcome:
        """Run every case. A failure names the first part whose values differ."""
        errors = {case.name: self._error(subject, case) for case in subject.cases}
        worst = max(subject.cases, key=lambda case: errors[case.name][0])
        error, output = errors[worst.name]
        if error > self.limit:
            return failed(
                f"relative error {error:.1e} in {output}, {worst.name} (limit {self.limit:.0e})"
                f"{self._first_difference(subject, worst)}",
                margin(error, self.limit),
            )
        cases = counted(len(errors), "case")
        return passed(f"max relative error {error:.1e} over {cases} (limit {self.limit:.0e})")

    def _error(self, subject: Subject, case: Case) -> tuple[float, str]:
        live = subject.build_stressed(self.dtype, case.regime)
        wanted = flat(subject.golden(case).outputs)
        return worst_error(subject.outputs(live, case.inputs), wanted)

    def _first_difference(self, subject: Subject, case: Case) -> str:
        live = subject.build_stressed(self.dtype, case.regime)
        with recorded(live) as found:
            subject.outputs(live, case.inputs)
        part = first_difference(found, subject.golden(case).trace, self.limit)
        return "" if part is None else f"; the first part that differs: {part}"


@dataclass(frozen=True)
class GradientParity(Check):
    """Training moves every parameter as the spec's definition does."""

    dtype: torch.dtype
    limit: float

    @property
    def name(self) -> str:
        """One check a dtype."""
        return f"gradient_{short(self.dtype)}"

    def run(self, subject: Subject) -> Outcome:
        """Differentiate one scalar made of all outputs with respect to every parameter."""
        cases = [case for case in subject.cases if case.regime is Regime.STRESS]
        worst = 0.0
        for case in cases:
            wanted = subject.golden_gradients(case)
            live = subject.build_stressed(self.dtype)
            outputs = call(live, subject.small, cast(case.inputs, self.dtype))
            scalar(outputs).backward()  # type: ignore[no-untyped-call]
            found = {n: p.grad for n, p in live.named_parameters() if p.grad is not None}
            error, name = joint_error(_filled(found, wanted), wanted)
            if error > self.limit:
                text = f"relative error {error:.1e} in {name}, {case.name} (limit {self.limit:.0e})"
                return failed(text, margin(error, self.limit))
            worst = max(worst, error)
        return passed(
            f"max relative error {worst:.1e} over all gradients of {counted(len(cases), 'case')}"
            f" (limit {self.limit:.0e})"
        )


def _filled(found: dict[str, Tensor], wanted: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: found.get(name, torch.zeros_like(tensor)) for name, tensor in wanted.items()}


@dataclass(frozen=True)
class EveryParameterLearns(Check):
    """Each parameter that the spec makes matter receives a gradient."""

    name: str = "every_parameter_learns"

    def run(self, subject: Subject) -> Outcome:
        """Golden's gradient tells which parameters matter."""
        case = subject.crowd if subject.has_experts else subject.cases[1]  # stressed and padded
        wanted = subject.golden_gradients(case)
        live = subject.build_stressed()
        scalar(call(live, subject.small, case.inputs)).backward()  # type: ignore[no-untyped-call]
        found = {n: p.grad for n, p in live.named_parameters() if p.grad is not None}
        found = _by_expert(_filled(found, wanted))
        wanted = _by_expert(wanted)
        size = max(grad.abs().max().item() for grad in wanted.values())
        idle = []
        for name, grad in wanted.items():
            if grad.abs().max().item() < 1e-12 * size:
                if name.endswith("]"):
                    return failed(
                        f"{name} is of an expert that no token chooses: nothing proves it"
                    )
                idle.append(name)
            elif found[name].abs().max().item() == 0.0:
                return failed(f"{name} receives no gradient, by the spec it matters")
        text = f"{len(wanted) - len(idle)} of {counted(len(wanted), 'parameter')}"
        rest = f"; {', '.join(idle[:3])} cannot matter by the spec" if idle else ""
        return passed(text + rest)


def _by_expert(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Tensors that hold all experts' maps, cut into one for each expert."""
    found: dict[str, Tensor] = {}
    for name, tensor in tensors.items():
        pieces = tensor.unbind() if tensor.dim() == 3 else ()
        found.update({f"{name}[{i}]": piece for i, piece in enumerate(pieces)} or {name: tensor})
    return found
