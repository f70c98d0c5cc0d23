"""Dtypes: the model runs in each of four, and its norms cast in the spec's order."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from specc import golden
from specc.ir.layers import LayerNorm, Norm, NormWeight
from specc.verify.calls import Outputs
from specc.verify.checks.check import Check, counted
from specc.verify.checks.parity import short
from specc.verify.metrics import margin, worst_error
from specc.verify.places import norms
from specc.verify.report import Outcome, differs, failed, not_applicable, passed
from specc.verify.subject import Subject

# How far outputs may lie from golden's float64 ones, under stress weights.
LIMITS = {
    torch.float64: 1e-12,
    torch.float32: 1e-5,
    torch.bfloat16: 0.25,
    torch.float16: 0.05,
}


@dataclass(frozen=True)
class Dtypes(Check):
    """The model runs in float64, float32, bfloat16 and float16 and answers in that dtype."""

    name: str = "dtypes"

    def run(self, subject: Subject) -> Outcome:
        """Compare with golden's float64 outputs. Where tokens choose experts, a near tie may go
        the other way in low precision and change its row: there a quarter of the rows counts.
        """
        told = []
        inputs = subject.crowd.inputs if subject.has_experts else subject.padded
        wanted = subject.answer("many rows" if subject.has_experts else "padded", inputs)
        for dtype, limit in LIMITS.items():
            outputs = subject.outputs(subject.build_stressed(dtype), inputs)
            other = [name for name, tensor in outputs.items() if tensor.dtype != dtype]
            if other:
                return failed(f"{other[0]} is {outputs[other[0]].dtype} in {short(dtype)}")
            by_rows = subject.has_experts and dtype.itemsize < torch.float32.itemsize
            error, output = (quarter_error if by_rows else worst_error)(outputs, wanted)
            if error > limit:
                return failed(
                    f"{output} is off by {error:.1e} in {short(dtype)} (limit {limit:.0e})",
                    margin(error, limit),
                )
            told.append(f"{short(dtype)} {error:.0e}")
        return passed(f"relative error against float64: {', '.join(told)}")


def quarter_error(found: Outputs, wanted: Outputs) -> tuple[float, str]:
    """The error that a quarter of the rows keeps below, and the output that has it."""
    rows = next(iter(wanted.values())).shape[0]
    errors = [
        worst_error({n: t[i] for n, t in found.items()}, {n: t[i] for n, t in wanted.items()})
        for i in range(rows)
    ]
    return sorted(errors)[rows // 4]


@dataclass(frozen=True)
class NormCasts(Check):
    """Norms compute in float32 and cast back where the spec says."""

    name: str = "norm_casts"
    share: float = 0.99

    def run(self, subject: Subject) -> Outcome:
        """Each norm alone, in bfloat16, beside golden's: the order of casts shows nowhere else."""
        live = subject.build_stressed(torch.bfloat16)
        modules = dict(live.named_modules())
        found = {path: norm for path, norm in norms(subject.small).items() if path in modules}
        if not found:
            return not_applicable("the file has no norm modules")
        shares = {path: self._equal_share(modules[path], norm) for path, norm in found.items()}
        worst = min(shares, key=lambda path: shares[path])
        share = f"{shares[worst]:.1%} of values equal golden's"
        if shares[worst] < self.share:
            return differs(f"{worst}: {share} (limit {self.share:.0%})", 1 - shares[worst])
        return passed(f"{counted(len(found), 'norm')}, at least {share} (limit {self.share:.0%})")

    def _equal_share(self, live: nn.Module, norm: Norm) -> float:
        generator = torch.Generator().manual_seed(2)
        rows = (64,) if norm.heads is None else (4, norm.heads.value, 16)
        x = torch.randn(*rows, norm.width.value, generator=generator).to(torch.bfloat16)
        weight = None if norm.weight is NormWeight.NONE else live.get_parameter("weight")
        has_bias = isinstance(norm, LayerNorm) and norm.bias
        bias = live.get_parameter("bias") if has_bias else None
        with torch.no_grad():
            wanted: Tensor = golden.norm(norm, x, weight, bias)
            return float((live(x) == wanted).double().mean())
