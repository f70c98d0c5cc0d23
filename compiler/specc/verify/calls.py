"""Calls a generated model by the signature of its kind and names what it returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn

from specc.golden import Inputs
from specc.ir.exhaustive import assert_never
from specc.ir.model import Kind, Model

Outputs = dict[str, Tensor]


class NamedOutput(Protocol):
    """The `Output` of a file with several outputs."""

    def _asdict(self) -> dict[str, Tensor | tuple[Tensor, ...]]: ...


class RefutedError(Exception):
    """What a check found wrong; its text is the evidence."""


def arguments(model: Model, inputs: Inputs) -> dict[str, Any]:
    """The keyword arguments of forward, without a cache."""
    match model.kind:
        case Kind.DECODER:
            names: tuple[str, ...] = ("tokens", "token_mask")
        case Kind.ENCODER:
            names = ("tokens", "token_mask", "token_types")
        case Kind.ENCODER_DECODER:
            names = ("source", "target", "source_mask", "target_mask")
        case Kind.FEATURES:
            names = ("queries", "memory", "memory_mask")
        case _:
            assert_never(model.kind)
    given = vars(inputs)
    found = {name: given[name] for name in names if given[name] is not None}
    if model.attention_weights and inputs.attention_layers:
        found["attention_layers"] = inputs.attention_layers
    return found


def call(live: nn.Module, model: Model, inputs: Inputs) -> Outputs:
    """Run forward. Several attention weights come out as "attention_weights.0" and so on."""
    return named(model, live(**arguments(model, inputs)))


def named(model: Model, returned: object) -> Outputs:
    """What forward returned, by output name. RefutedError where it is not what the spec names."""
    wanted = [head.output_name for head in model.heads]
    if model.attention_weights:
        wanted.append("attention_weights")
    if len(wanted) == 1:
        if not isinstance(returned, Tensor):
            raise RefutedError(
                f"forward returns {type(returned).__name__}, not one Tensor ({wanted[0]})"
            )
        return {wanted[0]: returned}
    names = vars(type(returned)).get("_fields", type(returned).__name__)
    if names != tuple(wanted):
        raise RefutedError(f"forward returns {names}, not {tuple(wanted)}")
    return flat(cast(NamedOutput, returned)._asdict())


def scalar(outputs: Outputs) -> Tensor:
    """A fixed random combination of all numbers of all outputs."""
    generator = torch.Generator().manual_seed(1)
    total = torch.zeros(())
    for tensor in outputs.values():
        factor = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
        total = total + (tensor * factor.to(tensor.dtype)).sum()
    return total


def flat(outputs: Mapping[str, Tensor | tuple[Tensor, ...]]) -> Outputs:
    """Tuples of tensors spread out as name.0, name.1, ..."""
    found: Outputs = {}
    for name, value in outputs.items():
        if isinstance(value, Tensor):
            found[name] = value
        else:
            found.update({f"{name}.{i}": part for i, part in enumerate(value)})
    return found
