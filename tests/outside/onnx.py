"""A reduced model as an ONNX program in onnxruntime, against the live model at other sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import onnxruntime
import torch
from torch import nn

from specc.golden import Inputs
from specc.pipeline import Compilation
from specc.verify import quiet_torch
from specc.verify.calls import arguments
from specc.verify.exports import exported, other_sizes
from specc.verify.inputs import cast
from specc.verify.loading import loaded
from specc.verify.metrics import worst_error
from specc.verify.subject import Subject


@contextmanager
def subject_of(compilation: Compilation) -> Iterator[Subject]:
    """The file of the spec, built small."""
    with quiet_torch(), loaded(compilation.artifact.text, compilation.model.name) as file:
        yield Subject(compilation.model, file)


def onnx_error(subject: Subject, traced: nn.Module, inputs: Inputs, path: Path) -> float:
    """The largest relative error at three lengths and two batch sizes.

    `traced` is exported once, with dynamic sizes; its program is compared with the live model.
    """
    inputs = cast(inputs, torch.float32)
    program = exported(traced, subject.small, inputs)
    torch.onnx.export(program, dynamo=True, verbose=False).save(path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    live = subject.build_stressed(torch.float32)
    worst = 0.0
    for other in (inputs, *other_sizes(inputs)):
        given = arguments(subject.small, other)
        gave = session.run(None, {name: tensor.numpy() for name, tensor in given.items()})
        wanted = subject.outputs(live, other)
        found = {name: torch.from_numpy(x) for name, x in zip(wanted, gave, strict=True)}
        worst = max(worst, worst_error(found, wanted)[0])
    return worst
