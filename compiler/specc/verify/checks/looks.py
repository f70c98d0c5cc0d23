"""Who influences whom: the output at each place is watched while each token is changed in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from specc.golden import Inputs
from specc.ir.block import Stack
from specc.ir.exhaustive import assert_never
from specc.ir.heads import ClassifierHead, Pool
from specc.ir.model import Kind
from specc.ir.sight import dependencies
from specc.ir.views import self_attention
from specc.verify.checks.check import Check
from specc.verify.inputs import changed
from specc.verify.report import Outcome, failed, passed
from specc.verify.subject import Subject

SEEN = 1e-11  # a change of an output, relative to its size, that counts as influence

MASKS = {
    "tokens": "token_mask",
    "source": "source_mask",
    "target": "target_mask",
    "memory": "memory_mask",
}


@dataclass(frozen=True)
class Sight:
    """What each output place should depend on: the places of `field` that its stack's layers let
    it see, one after the other; all of them, without a stack.
    """

    field: str
    stack: Stack | None

    @property
    def words(self) -> str:
        """For the evidence."""
        if self.stack is None:
            return "all"
        own = [a for layer in self.stack.layers if (a := self_attention(layer.block))]
        if not own:
            return "itself"
        near = " as far as windows and chunks let it" if any(a.reach for a in own) else ""
        return ("the past" if all(a.causal for a in own) else "all") + near

    def expected(self, n: int, m: int) -> Tensor:
        """[n, m] bool."""
        if self.stack is None:
            return torch.ones(n, m, dtype=torch.bool)
        return torch.tensor(
            [[j in reached for j in range(n)] for reached in dependencies(self.stack, n)]
        )


@dataclass(frozen=True)
class Looking(Check):
    """A causal model never sees the future and does see the past; others see both sides; windows
    and chunks let through what they should and no more.
    """

    name: str = "looking"

    def run(self, subject: Subject) -> Outcome:
        """In float64, with no mask and with one that hides nothing."""
        told = []
        for sight in sights(subject):
            for masked in (False, True):
                fault = self._fault(subject, sight, masked)
                if fault is not None:
                    return failed(fault)
            told.append(f"each place depends on {sight.words} of {sight.field}")
        return passed("; ".join(told))

    def _fault(self, subject: Subject, sight: Sight, masked: bool) -> str | None:
        for name, seen in influence(subject, sight.field, masked).items():
            if name.startswith("attention_weights"):
                continue
            wanted = _pooled(subject, name, partial(sight.expected, m=seen.shape[1]), seen)
            wrong = (seen != wanted).nonzero().tolist()
            if wrong:
                i, j = wrong[0]
                verb = "ignores" if wanted[i, j] else "is changed by"
                return (
                    f"{name} at place {i} {verb} {sight.field} at place {j}: {len(wrong)} of"
                    f" {seen.numel()} pairs are wrong{' under a full mask' if masked else ''}"
                )
        return None


def sights(subject: Subject) -> Iterator[Sight]:
    """One for each input that places stand in."""
    model = subject.small
    match model.kind:
        case Kind.DECODER | Kind.ENCODER:
            yield Sight("tokens", model.stacks[0])
        case Kind.ENCODER_DECODER:
            yield Sight("source", None)
            yield Sight("target", model.stack("decoder"))
        case Kind.FEATURES:
            yield Sight("queries", model.stacks[0])
            yield Sight("memory", None)
        case _:
            assert_never(model.kind)


def _pooled(subject: Subject, output: str, expected: partial[Tensor], seen: Tensor) -> Tensor:
    """A classifier sees through the place it pools from, or through all of them."""
    for head in subject.small.heads:
        if isinstance(head, ClassifierHead) and head.output_name == output:
            places = expected(seen.shape[1])
            return places[:1] if head.pool is Pool.FIRST else places.any(0, keepdim=True)
    return expected(seen.shape[0])


def influence(subject: Subject, field: str, masked: bool) -> dict[str, Tensor]:
    """Output name -> [places of the output, places of the field] bool."""
    inputs, length = _one_change_a_row(subject, field)
    if masked:
        fields = vars(inputs)
        inputs = changed(
            inputs,
            **{
                mask: torch.ones(fields[name].shape[:2], dtype=torch.bool)
                for name, mask in MASKS.items()
                if fields[name] is not None
            },
        )
    outputs = subject.outputs(subject.build_stressed(), inputs)
    return {name: _seen(tensor, length) for name, tensor in outputs.items()}


def _one_change_a_row(subject: Subject, field: str) -> tuple[Inputs, int]:
    """Row 0 as it is; row j + 1 differs from it at place j."""
    plain = vars(subject.plain)
    length = plain[field].shape[1]
    rows = {
        name: value[:1].expand(length + 1, *value.shape[1:]).clone()
        for name, value in plain.items()
        if isinstance(value, Tensor)
    }
    for j in range(length):
        value = rows[field]
        if value.is_floating_point():
            value[j + 1, j] = value[j + 1, j].flip(0) + 1
        else:
            value[j + 1, j] = (value[j + 1, j] + 1) % subject.sizes[_vocabulary(subject, field)]
    return changed(Inputs(), **rows), length


def _vocabulary(subject: Subject, field: str) -> str:
    stack = subject.small.stacks[-1 if field == "target" else 0]
    if subject.reads_features or not hasattr(stack.input, "embedding"):
        raise ValueError("features have no vocabulary")
    return stack.input.embedding.rows.name


def _seen(output: Tensor, length: int) -> Tensor:
    gap = (output[1:] - output[:1]).abs().amax(-1)  # [length, places] or [length]
    return (gap.reshape(length, -1) > SEEN * output.abs().max()).T
