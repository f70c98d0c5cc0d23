"""A live model as one program for every batch size and length, and inputs of other sizes to try."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from specc.golden import Inputs
from specc.ir.model import Model
from specc.verify.calls import arguments
from specc.verify.inputs import changed, rows_of


def exported(live: nn.Module, model: Model, inputs: Inputs) -> ExportedProgram:
    """What torch.export makes of the model, traced with the inputs: axes of one length share it."""
    given = arguments(model, inputs)
    batch, lengths = Dim("batch", min=1, max=64), dict[int, Dim]()
    shapes: dict[str, dict[int, Dim]] = {}
    for name, value in given.items():
        length = value.shape[1]
        if length not in lengths:
            lengths[length] = Dim(f"length_{length}", min=2, max=30)
        shapes[name] = {0: batch, 1: lengths[length]}
    return torch.export.export(live, (), kwargs=given, dynamic_shapes=shapes, strict=False)


def other_sizes(inputs: Inputs) -> list[Inputs]:
    """Two more lengths, the second with one row fewer."""
    return [_longer(inputs, 4), rows_of(_longer(inputs, 7), [0, 1, 2])]


def _longer(inputs: Inputs, extra: int) -> Inputs:
    return changed(
        Inputs(),
        **{
            name: torch.cat([value, value[:, :extra]], dim=1)
            for name, value in vars(inputs).items()
            if isinstance(value, Tensor)
        },
    )
