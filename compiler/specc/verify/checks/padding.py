"""Padding, rows of a batch, and rows that hold nothing but padding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from specc.golden import Inputs
from specc.ir.heads import ClassifierHead, Pool
from specc.ir.model import Kind
from specc.ir.positions import DynamicScaling, LearnedPosition, PositionIndex, Sinusoidal
from specc.ir.walk import walk
from specc.verify.calls import Outputs, call, scalar
from specc.verify.checks.check import Check, counted
from specc.verify.checks.looks import MASKS
from specc.verify.inputs import cast, changed, rows_of
from specc.verify.metrics import margin, worst_error
from specc.verify.report import Outcome, failed, not_applicable, passed
from specc.verify.subject import Subject

LIMIT = 1e-12
PADS = 3


def padded_fields(kind: Kind) -> tuple[str, ...]:
    """The inputs that have a mask."""
    match kind:
        case Kind.DECODER | Kind.ENCODER:
            return ("tokens",)
        case Kind.ENCODER_DECODER:
            return ("source", "target")
        case Kind.FEATURES:
            return ("memory",)


@dataclass(frozen=True)
class PaddingInvariance(Check):
    """Padding changes nothing, whatever stands in it."""

    side: str  # "left" or "right"

    @property
    def name(self) -> str:
        """One check a side."""
        return f"padding_{self.side}"

    def run(self, subject: Subject) -> Outcome:
        """Compare with an unpadded run at the real places, for each input that has a mask."""
        if self.side == "left" and _counts_columns(subject):
            return not_applicable("positions count columns by the spec, so padding left moves them")
        if any(isinstance(part, DynamicScaling) for part in walk(subject.small.stacks)):
            return not_applicable("theta grows with the columns of a call, padding counted")
        worst, right = 0.0, self._right(subject)
        if not right:
            return not_applicable("what the heads read is the first column, a padding token or not")
        for field, wanted in right.items():
            for fill in _fills(subject):
                padded = self._pad(subject.plain, field, fill)
                error, output = worst_error(self._kept(subject, padded, field), wanted)
                if error > LIMIT:
                    return failed(
                        f"{PADS} padding {field} on the {self.side} change {output} by {error:.1e}"
                        f" (limit {LIMIT:.0e})",
                        margin(error, LIMIT),
                    )
                worst = max(worst, error)
        return passed(
            f"max relative error {worst:.1e} with {PADS} padding {', '.join(right)}"
            f" (limit {LIMIT:.0e})"
        )

    def _right(self, subject: Subject) -> dict[str, Outputs]:
        """The outputs that padding of an input must not change; no inputs that change all."""
        fields = padded_fields(subject.small.kind)
        right = {field: self._kept(subject, subject.plain, field) for field in fields}
        return {field: outputs for field, outputs in right.items() if outputs}

    def _pad(self, inputs: Inputs, field: str, fill: int) -> Inputs:
        """PADS columns of `fill` on one side, masked; token types follow their tokens."""
        given = vars(inputs)
        names = [field, "token_types"] if field == "tokens" else [field]
        found = {n: self._widen(given[n], fill % 3) for n in names if given[n] is not None}
        real = torch.ones(given[field].shape[:2], dtype=torch.bool)
        found[MASKS[field]] = self._widen(real, 0)
        return changed(inputs, **found)

    def _widen(self, value: Tensor, fill: int) -> Tensor:
        columns = torch.full_like(value[:, :1], fill).repeat(1, PADS, *[1] * (value.dim() - 2))
        return torch.cat([columns, value] if self.side == "left" else [value, columns], dim=1)

    def _kept(self, subject: Subject, inputs: Inputs, field: str) -> Outputs:
        """The outputs at the places of the unpadded run that padding of `field` must not change."""
        live = subject.build_stressed()
        places = vars(subject.plain)[_output_field(subject.small.kind)].shape[1]
        return {
            name: self._cut(tensor, places, subject, name)
            for name, tensor in subject.outputs(live, inputs).items()
            if not self._reads_padding(subject, name, field)
        }

    def _cut(self, tensor: Tensor, places: int, subject: Subject, name: str) -> Tensor:
        if any(
            isinstance(h, ClassifierHead) and h.output_name == name for h in subject.small.heads
        ):
            return tensor
        return tensor[:, -places:] if self.side == "left" else tensor[:, :places]

    def _reads_padding(self, subject: Subject, name: str, field: str) -> bool:
        """The first column's class: padding before it is excluded by the spec."""
        is_before = self.side == "left" and field == _output_field(subject.small.kind)
        return is_before and any(
            isinstance(h, ClassifierHead) and h.output_name == name and h.pool is Pool.FIRST
            for h in subject.small.heads
        )


def _output_field(kind: Kind) -> str:
    match kind:
        case Kind.DECODER | Kind.ENCODER:
            return "tokens"
        case Kind.ENCODER_DECODER:
            return "target"
        case Kind.FEATURES:
            return "queries"


def _fills(subject: Subject) -> tuple[int, ...]:
    """Ids to pad with: any, but where ids tell places only the one that does not count."""
    tables = [p for p in walk(subject.small.stacks) if isinstance(p, LearnedPosition)]
    known = {t.pad_id for t in tables if t.index is PositionIndex.IDS and t.pad_id is not None}
    return tuple(known) or (0, 5)


def _counts_columns(subject: Subject) -> bool:
    return any(
        isinstance(part, Sinusoidal | LearnedPosition) and part.index is PositionIndex.ARANGE
        for part in walk(subject.small.stacks)
    )


@dataclass(frozen=True)
class BatchIndependence(Check):
    """A row's result does not depend on the rows beside it."""

    name: str = "batch_independence"

    def run(self, subject: Subject) -> Outcome:
        """Run each row alone."""
        live = subject.build_stressed()
        inputs = subject.padded
        together = subject.outputs(live, inputs)
        n_rows = next(iter(together.values())).shape[0]
        worst = 0.0
        for row in range(n_rows):
            alone = subject.outputs(live, rows_of(inputs, [row]))
            error, output = worst_error(alone, {n: t[[row]] for n, t in together.items()})
            if error > LIMIT:
                return failed(
                    f"row {row} alone changes {output} by {error:.1e} (limit {LIMIT:.0e})",
                    margin(error, LIMIT),
                )
            worst = max(worst, error)
        return passed(
            f"max relative error {worst:.1e} over {counted(n_rows, 'row')} (limit {LIMIT:.0e})"
        )


@dataclass(frozen=True)
class FullyMaskedRows(Check):
    """A row of padding gives finite numbers, golden's numbers, and finite gradients."""

    name: str = "fully_masked_rows"

    def run(self, subject: Subject) -> Outcome:
        """Empty one row of each mask in turn; gradients are looked at in float32."""
        worst = 0.0
        for emptied, inputs in _emptied(subject):
            wanted = subject.answer(f"{emptied} emptied", inputs)
            error, output = worst_error(subject.outputs(subject.build_stressed(), inputs), wanted)
            if error > LIMIT:
                return failed(
                    f"{output} is off by {error:.1e} (limit {LIMIT:.0e})", margin(error, LIMIT)
                )
            worst = max(worst, error)
            broken = _broken_gradient(subject, inputs)
            if broken is not None:
                return failed(f"the gradient of {broken} is not finite")
        return passed(f"max relative error {worst:.1e} (limit {LIMIT:.0e}); all gradients finite")


def _emptied(subject: Subject) -> Iterator[tuple[str, Inputs]]:
    """The padded inputs with row 2 of one mask, or of all of them, False throughout."""
    padded = vars(subject.padded)
    masks = {n: m.clone() for n, m in padded.items() if n.endswith("_mask") and m is not None}
    for mask in masks.values():
        mask[2] = False
    for name, mask in masks.items():
        yield name, changed(subject.padded, **{name: mask})
    if len(masks) > 1:
        yield "all", changed(subject.padded, **masks)


def _broken_gradient(subject: Subject, inputs: Inputs) -> str | None:
    live = subject.build_stressed(torch.float32)
    scalar(call(live, subject.small, cast(inputs, torch.float32))).backward()  # type: ignore[no-untyped-call]
    for name, parameter in live.named_parameters():
        if parameter.grad is not None and not bool(parameter.grad.isfinite().all()):
            return name
    return None
