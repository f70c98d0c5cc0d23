"""What must hold between a generated file and golden, at the sizes that the spec itself gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor, nn

from specc import golden
from specc.golden import Inputs
from specc.ir.model import Model
from specc.ir.parameters import parameters
from specc.verify.calls import Outputs, call, flat, scalar
from specc.verify.checks.cache import chunked
from specc.verify.inputs import Padding, cast, make_inputs, with_all_attention_layers
from specc.verify.live import reset
from specc.verify.loading import LoadedFile
from specc.verify.metrics import joint_error, relative_error, worst_error
from specc.verify.random_specs.continuing import wrong_steps
from specc.verify.weights import stress_weights

EXACT = 1e-12  # float64
SINGLE = 1e-5  # float32
SLACK = 8
SAMPLES = 8  # of rounding: one alone may be lucky
CHUNKS = (4, 1, 3, 1)

Gradients = dict[str, Tensor]


@dataclass(frozen=True)
class Pair:
    """One model twice: live, in two precisions, and golden's meaning of it with equal weights."""

    model: Model
    weights: dict[str, Tensor]
    exact: nn.Module
    single: nn.Module

    def golden(self, inputs: Inputs) -> tuple[Outputs, Gradients]:
        """Golden's outputs, and the gradient of a scalar made of them, in float64."""
        leaves = {name: weight.clone().requires_grad_() for name, weight in self.weights.items()}
        outputs = flat(golden.run(self.model, leaves, inputs).outputs)
        trained = {p.path: leaves[p.path] for p in parameters(self.model) if p.trained}
        return outputs, _gradients(outputs, trained)

    def live(self, inputs: Inputs) -> tuple[Outputs, Gradients]:
        """The same of the live model."""
        outputs = call(self.exact, self.model, inputs)
        return outputs, _gradients(outputs, dict(self.exact.named_parameters()))


def _gradients(outputs: Outputs, leaves: dict[str, Tensor]) -> Gradients:
    total = scalar(outputs)
    if not total.requires_grad:
        return {name: torch.zeros_like(leaf) for name, leaf in leaves.items()}
    found = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    return {
        name: torch.zeros_like(leaf) if gradient is None else gradient
        for (name, leaf), gradient in zip(leaves.items(), found, strict=True)
    }


def disagreements(model: Model, file: LoadedFile) -> Iterator[str]:
    """Everything that differs, the cheapest comparison first."""
    exact = file.model_class(file.config_class()).double()
    reset(exact)  # tables anew, in float64
    single = file.model_class(file.config_class())
    yield from _parameters(model, exact)
    weights = stress_weights(model)
    for live in (exact, single):
        live.load_state_dict(weights)
        live.eval()
    pair = Pair(model, weights, exact, single)
    for padding in Padding:
        for differs in _of_inputs(pair, padding):
            yield f"{differs}, {padding.value}"
    yield from wrong_steps(model, weights, exact)


def _parameters(model: Model, live: nn.Module) -> Iterator[str]:
    wanted = {p.path: p.shape for p in parameters(model)}
    found = {path: tuple(tensor.shape) for path, tensor in live.state_dict().items()}
    for path in [*wanted, *found]:
        if wanted.get(path) != found.get(path):
            yield f"{path}: {found.get(path)}, the spec says {wanted.get(path)}"


def _of_inputs(pair: Pair, padding: Padding) -> Iterator[str]:
    inputs = make_inputs(pair.model, padding)
    if pair.model.attention_weights:
        inputs = with_all_attention_layers(pair.model, inputs)
    wanted, pulls = pair.golden(inputs)
    found, live_pulls = pair.live(inputs)
    rounding = Rounding(pair, inputs, wanted, pulls)
    error = worst_error(found, wanted)
    yield from _beyond(EXACT, error, "differs", rounding.outputs)
    with torch.no_grad():
        rounded = call(pair.single, pair.model, cast(inputs, torch.float32))
    error = worst_error(rounded, wanted)
    yield from _beyond(SINGLE, error, "in float32 differs", rounding.outputs)
    error = joint_error(live_pulls, pulls)
    yield from _beyond(EXACT, error, "has a gradient that differs", rounding.gradients)
    if pair.model.cache:
        plain = make_inputs(pair.model, padding)
        with torch.no_grad():
            pieces = chunked(pair.exact, pair.model, plain, CHUNKS)
        for name, joined in pieces.items():
            error = relative_error(joined, wanted[name]), name
            yield from _beyond(EXACT, error, "with a cache differs", rounding.outputs)


@dataclass(frozen=True)
class Rounding:
    """What float32 alone does to golden: how far a spec blows up the last bit of a number.

    A norm of next to nothing divides by it. Such a spec is compared as closely as its own
    arithmetic allows: the limit is SLACK times the largest of golden's errors in float32, with
    weights that differ by their own rounding, scaled to the dtype.
    """

    pair: Pair
    inputs: Inputs
    wanted: Outputs
    pulls: Gradients

    def outputs(self) -> float:
        """Golden's error of outputs in float32."""
        return max(worst_error(outputs, self.wanted)[0] for outputs, _ in self._samples)

    def gradients(self) -> float:
        """Golden's error of gradients in float32."""
        return max(joint_error(pulls, self.pulls)[0] for _, pulls in self._samples)

    @cached_property
    def _samples(self) -> list[tuple[Outputs, Gradients]]:
        single, generator = cast(self.inputs, torch.float32), torch.Generator().manual_seed(0)
        return [
            replace(self.pair, weights=_rounded(self.pair.weights, generator)).golden(single)
            for _ in range(SAMPLES)
        ]


def _rounded(weights: dict[str, Tensor], generator: torch.Generator) -> dict[str, Tensor]:
    """In float32, each rounded up or down."""

    def nudged(weight: Tensor) -> Tensor:
        part = torch.rand(weight.shape, generator=generator, dtype=weight.dtype) - 0.5
        return (weight * (1 + part * torch.finfo(torch.float32).eps)).float()

    return {name: nudged(weight) for name, weight in weights.items()}


def _beyond(
    limit: float, error: tuple[float, str], what: str, rounding: Callable[[], float]
) -> Iterator[str]:
    size, name = error
    if size <= limit:
        return
    bits = 1.0 if limit == SINGLE else 2.0**-29
    own = SLACK * bits * min(rounding(), 1.0)
    if not size <= own:
        yield f"{name} {what} by {size:.1e} (limit {max(limit, own):.0e})"
