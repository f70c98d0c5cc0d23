"""What a model reads, by the names of its forward, and what it refuses."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from specc.ir.exhaustive import assert_never
from specc.ir.model import Kind, Model


@dataclass(frozen=True)
class Inputs:
    """Ids [B, T] int64, masks [B, T] bool (True = a real token), features [B, T, D].

    `capacity` is what the cache has room for, when the call is one with a cache.
    """

    tokens: Tensor | None = None
    token_mask: Tensor | None = None
    token_types: Tensor | None = None
    source: Tensor | None = None
    target: Tensor | None = None
    source_mask: Tensor | None = None
    target_mask: Tensor | None = None
    queries: Tensor | None = None
    memory: Tensor | None = None
    memory_mask: Tensor | None = None
    attention_layers: tuple[int, ...] = ()
    capacity: int | None = None


def wanted(kind: Kind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The inputs that a kind of model needs, and those that it may be given."""
    match kind:
        case Kind.DECODER:
            return ("tokens",), ("token_mask",)
        case Kind.ENCODER:
            return ("tokens",), ("token_mask", "token_types")
        case Kind.ENCODER_DECODER:
            return ("source", "target"), ("source_mask", "target_mask")
        case Kind.FEATURES:
            return ("queries", "memory"), ("memory_mask",)
        case _:
            assert_never(kind)


def check_inputs(model: Model, inputs: Inputs) -> None:
    """ValueError where an input is missing or not read, or a mask has another shape or type."""
    needed, optional = wanted(model.kind)
    given = {f.name: getattr(inputs, f.name) for f in fields(inputs)}
    del given["attention_layers"], given["capacity"]
    for name, value in given.items():
        if value is None and name in needed:
            raise ValueError(f"the model needs {name}")
        if value is not None and name not in needed + optional:
            raise ValueError(f"the model does not read {name}")
    for mask_name, value_name in _MASKED.items():
        mask, value = given[mask_name], given[value_name]
        if mask is None or value is None:
            continue
        if mask.dtype is not torch.bool and mask_name != "token_types":
            raise ValueError(f"{mask_name} must be bool, got {mask.dtype}")
        if mask.shape != value.shape[:2]:
            raise ValueError(
                f"{mask_name} is {tuple(mask.shape)}, but {value_name} is {tuple(value.shape[:2])}"
            )


def check_capacity(model: Model, capacity: int | None, length: int) -> None:
    """ValueError for a cache that the model does not have, or that has no room for the tokens."""
    if capacity is None:
        return
    if not model.cache:
        raise ValueError("the model has no cache, so no capacity")
    if capacity < length:
        raise ValueError(f"{length} tokens, but the cache has room for {capacity}")


def needed_tensor(value: Tensor | None, name: str) -> Tensor:
    """The tensor; ValueError if it was not given."""
    if value is None:
        raise ValueError(f"the model needs {name}")
    return value


_MASKED = {
    "token_mask": "tokens",
    "token_types": "tokens",
    "source_mask": "source",
    "target_mask": "target",
    "memory_mask": "memory",
}
