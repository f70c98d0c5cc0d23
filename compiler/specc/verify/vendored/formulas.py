"""Weights, inputs and summaries by the formulas that a test file spells out; both must agree."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from specc.golden import Inputs
from specc.golden.run import Result
from specc.ir.block import FeatureInput, TokenInput
from specc.ir.exhaustive import assert_never
from specc.ir.model import Kind, Model
from specc.ir.parameters import parameters
from specc.render.tests.facts import (
    BATCH,
    LENGTH,
    MASK,
    MEMORY_LENGTH,
    MEMORY_MASK,
    STRIDE,
)
from specc.render.tests.text import adds_one
from specc.render.tests.vocabulary import known_ids
from specc.verify.calls import flat

GAP = 1000  # how far apart the numbers of neighbouring tensors start


def waves(*shape: int, skip: int = 0) -> Tensor:
    """sin(n^2) for n = skip, skip + 1, ...: pseudo-random, and the same on every machine."""
    n = torch.arange(skip, skip + math.prod(shape), dtype=torch.float64)
    return n.square().sin().view(shape)


def weights(model: Model) -> dict[str, Tensor]:
    """Path -> float64 tensor: matrices of size 1 / sqrt(fan_in), gains near 1, biases near 0."""
    shapes = {parameter.path: parameter.shape for parameter in parameters(model)}
    middle = 0.0 if adds_one(model) else 1.0
    found = {}
    for place, path in enumerate(sorted(shapes)):
        wave = waves(*shapes[path], skip=GAP * place)
        if wave.dim() > 1:
            found[path] = wave * math.sqrt(2 / wave.shape[1])
        else:
            found[path] = wave / 2 + middle * path.endswith("norm.weight")
    return found


def summary(tensor: Tensor) -> Tensor:
    """[B, 5]: of each row three entries and two weighted means over all of them."""
    rows = tensor.double().flatten(1)
    size = rows.shape[1]
    picked = rows[:, [size // 3, size // 2, -1]]
    return torch.cat([picked, rows @ waves(size, 2) / math.sqrt(size)], 1)


def numbers(result: Result) -> Tensor:
    """The summaries of all tensors, one below the other."""
    return torch.cat([summary(tensor) for tensor in flat(result.outputs).values()])


def plain(model: Model) -> Inputs:
    """Without padding."""
    match model.kind:
        case Kind.DECODER | Kind.ENCODER:
            return Inputs(tokens=_ids(model, 0, LENGTH), token_types=_types(model))
        case Kind.ENCODER_DECODER:
            return Inputs(source=_ids(model, 0, MEMORY_LENGTH), target=_ids(model, 1, LENGTH))
        case Kind.FEATURES:
            part = model.stacks[0].input
            if not isinstance(part, FeatureInput):
                raise ValueError("the model reads tokens")
            width = part.d_model.value
            queries = waves(BATCH, LENGTH, width)
            memory = waves(BATCH, MEMORY_LENGTH, width, skip=queries.numel())
            return Inputs(queries=queries, memory=memory)
        case _:
            assert_never(model.kind)


def padded(model: Model) -> Inputs:
    """With padding, and asking for attention weights where the model gives them."""
    short, long = _mask(MASK), _mask(MEMORY_MASK)
    given = vars(plain(model))
    match model.kind:
        case Kind.DECODER | Kind.ENCODER:
            given = {**given, "token_mask": short}
        case Kind.ENCODER_DECODER:
            given = {**given, "source_mask": long, "target_mask": short}
        case Kind.FEATURES:
            given = {**given, "memory_mask": long}
        case _:
            assert_never(model.kind)
    if model.attention_weights:
        given = {**given, "attention_layers": (1, 0)}
    return Inputs(**given)


def _ids(model: Model, stack: int, length: int) -> Tensor:
    known = known_ids(model, stack)
    if known is None:
        raise ValueError(f"the {model.stacks[stack].name} reads features")
    ids = STRIDE * torch.arange(BATCH * length) % (known.value - 1)
    return ids.view(BATCH, length)


def _types(model: Model) -> Tensor | None:
    part = model.stacks[0].input
    if not isinstance(part, TokenInput) or part.types is None:
        return None
    return (torch.arange(BATCH * LENGTH) % part.types.rows.value).view(BATCH, LENGTH)


def _mask(rows: tuple[str, ...]) -> Tensor:
    return torch.tensor([[int(digit) for digit in row] for row in rows]).bool()
