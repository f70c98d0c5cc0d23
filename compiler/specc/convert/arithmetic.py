"""The steps of `weights` on tensors: no step computes anything but Offset, all others move."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from specc.ir.exhaustive import assert_never
from specc.weights.steps import (
    CutRows,
    Join,
    Offset,
    PadRows,
    Split,
    Stack,
    Step,
    Transpose,
    TurnPairs,
    Unstack,
)


def run_steps(steps: Sequence[Step], tensors: Sequence[Tensor]) -> list[Tensor]:
    """What the steps make of these tensors: views of them where that is enough."""
    found = list(tensors)
    for step in steps:
        found[step.at : step.at + step.takes] = _run(step, found[step.at : step.at + step.takes])
    return found


def _run(step: Step, tensors: list[Tensor]) -> list[Tensor]:
    first = tensors[0]
    match step:
        case Transpose():
            return [first.transpose(-2, -1)]
        case Split(axis=axis, times=times, sizes=sizes):
            apart = _repeated(first, axis, times)
            return [
                part.flatten(axis, axis + 1) for part in torch.split(apart, list(sizes), axis + 1)
            ]
        case Join(axis=axis, times=times):
            together = torch.cat([_repeated(t, axis, times) for t in tensors], axis + 1)
            return [together.flatten(axis, axis + 1)]
        case Stack():
            return [torch.stack(tensors)]
        case Unstack():
            return list(first.unbind())
        case TurnPairs(axis=axis):
            order = torch.tensor(step.order(first.size(axis)), device=first.device)
            return [first.index_select(axis, order)]
        case Offset(_, value):
            return [(first.double() + value).to(first.dtype)]
        case CutRows(_, count):
            return [first[count:]]
        case PadRows(_, count):
            return [torch.cat([first.new_zeros(count, *first.shape[1:]), first])]
        case _:
            assert_never(step)


def _repeated(tensor: Tensor, axis: int, times: int) -> Tensor:
    """An axis of n rows as two, of `times` and of n / times."""
    shape = tensor.shape
    return tensor.reshape(*shape[:axis], times, shape[axis] // times, *shape[axis + 1 :])
