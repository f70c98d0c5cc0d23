"""Seeded inputs for each kind of model: token ids or features, with and without padding.

The padded rows hold no padding, padding left, padding right, and both with a hole in the middle.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

import torch
from torch import Tensor

from specc.golden import Inputs
from specc.ir.block import FeatureInput, Stack, TokenInput
from specc.ir.exhaustive import assert_never
from specc.ir.model import Kind, Model

BATCH = 4
LENGTH = 9
MEMORY_LENGTH = 11
LEFT = (0, 3, 5, 8)  # tokens of each row that are none


class Padding(Enum):
    """Whether inputs come with masks."""

    NONE = "no padding"
    MIXED = "padded"


def mixed_mask(length: int) -> Tensor:
    """[BATCH, length] bool: the four rows that the module's docstring names."""
    mask = torch.ones(BATCH, length, dtype=torch.bool)
    mask[1, :3] = False
    mask[2, -2:] = False
    mask[3, 0] = mask[3, -1] = mask[3, length // 2] = False
    return mask


def make_inputs(model: Model, padding: Padding, seed: int = 0) -> Inputs:
    """Inputs of the model's kind at its (reduced) sizes: ids int64, features float64."""
    g = torch.Generator().manual_seed(seed)
    long, short = mixed_mask(MEMORY_LENGTH), mixed_mask(LENGTH)
    is_padded = padding is Padding.MIXED
    match model.kind:
        case Kind.DECODER | Kind.ENCODER:
            tokens = random_tokens(model.stacks[0], LENGTH, g)
            types = random_types(model.stacks[0], g)
            return Inputs(tokens=tokens, token_types=types, token_mask=short if is_padded else None)
        case Kind.ENCODER_DECODER:
            return Inputs(
                source=random_tokens(model.stack("encoder"), MEMORY_LENGTH, g),
                target=random_tokens(model.stack("decoder"), LENGTH, g),
                source_mask=long.flip(0) if is_padded else None,
                target_mask=short if is_padded else None,
            )
        case Kind.FEATURES:
            width = feature_width(model)
            return Inputs(
                queries=torch.randn(BATCH, LENGTH, width, generator=g, dtype=torch.float64),
                memory=torch.randn(BATCH, MEMORY_LENGTH, width, generator=g, dtype=torch.float64),
                memory_mask=long if is_padded else None,
            )
        case _:
            assert_never(model.kind)


def left_padded(model: Model) -> Inputs:
    """Inputs of a decoder whose rows hold padding on the left, of several lengths; a source's is
    mixed.
    """
    inputs = make_inputs(model, Padding.MIXED)
    real = torch.arange(LENGTH)[None] >= torch.tensor(LEFT)[:, None]
    name = "target_mask" if model.kind is Kind.ENCODER_DECODER else "token_mask"
    return changed(inputs, **{name: real})


def random_tokens(stack: Stack, length: int, generator: torch.Generator) -> Tensor:
    """[BATCH, length] ids of the stack's vocabulary."""
    if not isinstance(stack.input, TokenInput):
        raise ValueError(f"the {stack.name} reads features")
    rows = stack.input.embedding.rows.value
    return torch.randint(rows, (BATCH, length), generator=generator)


def random_types(stack: Stack, generator: torch.Generator) -> Tensor | None:
    """[BATCH, LENGTH] token types, where the stack has them."""
    if not isinstance(stack.input, TokenInput) or stack.input.types is None:
        return None
    return torch.randint(stack.input.types.rows.value, (BATCH, LENGTH), generator=generator)


def feature_width(model: Model) -> int:
    """D of a model over features."""
    part = model.stacks[0].input
    if not isinstance(part, FeatureInput):
        raise ValueError("the model reads tokens")
    return part.d_model.value


def with_all_attention_layers(model: Model, inputs: Inputs) -> Inputs:
    """The same inputs, asking for every layer's attention weights, last layer first."""
    return replace(inputs, attention_layers=tuple(reversed(range(len(model.stacks[-1].layers)))))


def changed(inputs: Inputs, **tensors: Tensor | None) -> Inputs:
    """The same inputs with some tensors replaced."""
    return replace(inputs, **tensors)  # type: ignore[arg-type]  # none is named attention_layers


def rows_of(inputs: Inputs, rows: slice | list[int]) -> Inputs:
    """The inputs of some rows of the batch."""
    names = [n for n, v in vars(inputs).items() if isinstance(v, Tensor)]
    return changed(inputs, **{name: vars(inputs)[name][rows] for name in names})


def lone_token(inputs: Inputs) -> Inputs:
    """The first token of the first row, with all of its memory."""
    row = rows_of(inputs, [0])
    names = ("tokens", "token_mask", "token_types", "target", "target_mask", "queries")
    new = {name: vars(row)[name] for name in names if vars(row)[name] is not None}
    return changed(row, **{name: value[:, :1] for name, value in new.items()})


def joined(several: list[Inputs]) -> Inputs:
    """Inputs of the same lengths, their rows one below the other."""
    names = [n for n, v in vars(several[0]).items() if isinstance(v, Tensor)]
    return changed(
        several[0], **{name: torch.cat([vars(one)[name] for one in several]) for name in names}
    )


def beginning(inputs: Inputs, length: int) -> Inputs:
    """The first places of every input."""
    names = [n for n, v in vars(inputs).items() if isinstance(v, Tensor)]
    return changed(inputs, **{name: vars(inputs)[name][:, :length] for name in names})


def cast(inputs: Inputs, dtype: torch.dtype) -> Inputs:
    """The inputs with features in that dtype; ids and masks stay."""
    floats = {n: v.to(dtype) for n, v in vars(inputs).items() if _is_float(v)}
    return changed(inputs, **floats)


def _is_float(value: object) -> bool:
    return isinstance(value, Tensor) and value.is_floating_point()
