"""A whole `state_dict` turned at once: published tensors into ours, or ours into published ones.

For models that fit in memory; files are turned a tensor at a time (`files`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from specc.convert.arithmetic import run_steps
from specc.ir.model import Model
from specc.weights import Fill, Layout, Move, Tie, WeightsError, operations
from specc.weights.match import match_ours, match_published
from specc.weights.problems import mixed_dtypes


@dataclass(frozen=True)
class Converted:
    """Tensors by name, and the names that were left out, with the reason."""

    tensors: dict[str, Tensor]
    dropped: tuple[tuple[str, str], ...] = ()


def to_ours(model: Model, layout: Layout, state: Mapping[str, Tensor]) -> Converted:
    """The `state_dict` of the generated file. Raises WeightsError naming what does not fit."""
    steps = operations(model, layout)
    found = match_published(steps, layout, {n: tuple(t.shape) for n, t in state.items()})
    ours: dict[str, Tensor] = {}
    dropped = list(found.dropped)
    for step in steps:
        match step:
            case Move():
                given = [state[found.spelt[named.name]] for named in step.theirs]
                _refuse_mixture([named.name for named in step.theirs], given)
                names = [named.name for named in step.ours]
                ours |= zip(names, run_steps(step.steps, given), strict=True)
            case Tie() if step.theirs in found.spelt:
                name, of = found.spelt[step.theirs], found.spelt[step.of]
                refuse_untied(name, state[name], of, state[of])
                dropped.append((name, f"the same as {of}"))
            case Fill():
                like = next(iter(state.values()))
                ours[step.ours.name] = like.new_full(step.ours.shape, step.value)
            case _:
                continue
    return Converted({name: t.contiguous() for name, t in ours.items()}, tuple(dropped))


def to_theirs(model: Model, layout: Layout, state: Mapping[str, Tensor]) -> Converted:
    """The published tensors. Raises WeightsError naming what does not fit."""
    steps = operations(model, layout)
    match_ours(steps, {name: tuple(t.shape) for name, t in state.items()})
    theirs: dict[str, Tensor] = {}
    dropped: list[tuple[str, str]] = []
    for step in steps:
        match step:
            case Move():
                given = [state[named.name] for named in step.ours]
                _refuse_mixture([named.name for named in step.ours], given)
                names = [named.name for named in step.theirs]
                theirs |= zip(names, run_steps(step.back, given), strict=True)
            case Fill():
                name = step.ours.name
                refuse_other(name, state[name], step.value)
                dropped.append((name, f"{step.value:g} everywhere, and never published"))
            case _:
                continue
    return Converted({name: t.contiguous() for name, t in theirs.items()}, tuple(dropped))


def refuse_untied(name: str, copy: Tensor, of: str, tensor: Tensor) -> None:
    """A copy must repeat what the model ties it to. Raises WeightsError."""
    if copy.dtype != tensor.dtype or not torch.equal(copy, tensor):
        raise WeightsError(
            [f"{name}: differs from {of}, and the spec ties the two (head.tied: false keeps both)"]
        )


def refuse_other(name: str, tensor: Tensor, value: float) -> None:
    """What is never published may only hold its one value. Raises WeightsError."""
    if not bool((tensor == value).all()):
        raise WeightsError([f"{name}: is not {value:g} everywhere, and the layout has no place"])


def _refuse_mixture(names: list[str], tensors: list[Tensor]) -> None:
    problem = mixed_dtypes(names, [str(tensor.dtype) for tensor in tensors])
    if problem is not None:
        raise WeightsError([problem])
