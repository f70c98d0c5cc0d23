"""What all checks of one verification look at: the file, the model in two sizes, golden's answers.

Golden's results are kept: many checks ask for the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch
from torch import Tensor, nn

from specc import golden
from specc.golden import Inputs
from specc.ir.block import FeatureInput
from specc.ir.feed_forward import MixtureOfExperts
from specc.ir.layers import DropoutSite
from specc.ir.model import Model
from specc.ir.walk import resize, walk
from specc.verify.calls import Outputs, call, flat, scalar
from specc.verify.inputs import (
    Padding,
    cast,
    joined,
    lone_token,
    make_inputs,
    with_all_attention_layers,
)
from specc.verify.live import reset
from specc.verify.loading import LoadedFile
from specc.verify.places import all_chosen
from specc.verify.quiet import stream_level
from specc.verify.sizes import reduced_numbers, reduced_sizes
from specc.verify.texts import Texts, make_texts
from specc.verify.weights import Regime, stress_weights

CROWDS = (4, 16, 64)  # how many times the usual rows may be needed


@dataclass(frozen=True)
class Case:
    """A regime of weights with inputs that suit it."""

    name: str
    regime: Regime
    inputs: Inputs


@dataclass(frozen=True)
class Known:
    """What golden has answered about one model: files that are compared with it may share this."""

    weights: dict[Regime, dict[str, Tensor]] = field(default_factory=dict)
    results: dict[str, golden.Result] = field(default_factory=dict)
    gradients: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    answers: dict[str, Outputs] = field(default_factory=dict)
    texts: list[Texts] = field(default_factory=list)  # one, once it is asked for


@dataclass(frozen=True)
class Subject:
    """One generated file against one model. `inductor` asks compile to use the real backend."""

    model: Model
    file: LoadedFile
    inductor: bool = False
    known: Known = field(default_factory=Known, repr=False)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """Reduced values by `Config` name."""
        return reduced_sizes(self.model)

    @cached_property
    def small(self) -> Model:
        """The model at its reduced size: what golden interprets."""
        return resize(self.model, self.numbers)

    @cached_property
    def numbers(self) -> dict[str, int | float | tuple[float, ...]]:
        """The sizes, and what else shrinks with them: the arguments of a reduced `Config`."""
        return {**self.sizes, **reduced_numbers(self.model, self.sizes)}

    def weights(self, regime: Regime = Regime.STRESS) -> dict[str, Tensor]:
        """Stress weights of the reduced model, float64."""
        if regime not in self.known.weights:
            self.known.weights[regime] = stress_weights(self.small, regime)
        return self.known.weights[regime]

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Both regimes, with and without padding, and all attention weights that forward gives;
        one token alone, which a file may compute in a way of its own; and with experts, rows
        enough for each of them to be chosen.
        """
        cases = tuple(
            Case(f"{regime.value}, {padding.value}", regime, self._case_inputs(regime, padding))
            for regime in Regime
            for padding in Padding
        )
        lone = Case("a lone token", Regime.STRESS, lone_token(cases[0].inputs))
        return (*cases, lone, *([self.crowd] if self.has_experts else []))

    @property
    def has_experts(self) -> bool:
        """Whether tokens choose what they pass."""
        return any(isinstance(part, MixtureOfExperts) for part in walk(self.model.stacks))

    @cached_property
    def crowd(self) -> Case:
        """Rows enough, some padded, for every expert to be chosen: as many as that takes."""
        for times in CROWDS[:-1]:
            case = self._crowd(times)
            if all_chosen(self.small, self.golden(case).trace):
                return case
        return self._crowd(CROWDS[-1])

    def _crowd(self, times: int) -> Case:
        several = [make_inputs(self.small, Padding.MIXED, seed) for seed in range(times)]
        return Case(f"many rows, {times} times as many", Regime.STRESS, joined(several))

    def _case_inputs(self, regime: Regime, padding: Padding) -> Inputs:
        inputs = make_inputs(self.small, padding)
        if inputs.queries is not None and regime is Regime.QUIET:
            inputs = replace(inputs, queries=inputs.queries * stream_level(self.small.stacks[0]))
        if self.small.attention_weights and regime is Regime.STRESS:
            inputs = with_all_attention_layers(self.small, inputs)
        return inputs

    @property
    def plain(self) -> Inputs:
        """Inputs without padding."""
        return make_inputs(self.small, Padding.NONE)

    @property
    def padded(self) -> Inputs:
        """Inputs with padding left, right and in the middle."""
        return make_inputs(self.small, Padding.MIXED)

    @property
    def reads_features(self) -> bool:
        """Whether features come in, not tokens."""
        return isinstance(self.model.stacks[0].input, FeatureInput)

    def build(self, dtype: torch.dtype = torch.float64) -> nn.Module:
        """The file's model at its reduced size with fresh weights, in eval mode."""
        live = self.file.model_class(self.file.config_class(**self.numbers)).to(dtype)
        if dtype is torch.float64:
            reset(live)  # tables anew, in float64
        return live.eval()

    def build_stressed(
        self, dtype: torch.dtype = torch.float64, regime: Regime = Regime.STRESS
    ) -> nn.Module:
        """The same with stress weights loaded (strictly)."""
        live = self.build(dtype)
        live.load_state_dict(self.weights(regime))
        return live

    def golden(self, case: Case) -> golden.Result:
        """Golden's float64 answer, computed once a case."""
        if case.name not in self.known.results:
            with torch.no_grad():
                weights = self.weights(case.regime)
                self.known.results[case.name] = golden.run(self.small, weights, case.inputs)
        return self.known.results[case.name]

    def golden_gradients(self, case: Case) -> dict[str, Tensor]:
        """d scalar(outputs) / d parameter by golden, in float64, computed once a case."""
        if case.name not in self.known.gradients:
            weights = {n: w.clone().requires_grad_() for n, w in self.weights(case.regime).items()}
            outputs = flat(golden.run(self.small, weights, case.inputs).outputs)
            grads = torch.autograd.grad(scalar(outputs), list(weights.values()), allow_unused=True)
            self.known.gradients[case.name] = {
                name: torch.zeros_like(weight) if grad is None else grad
                for (name, weight), grad in zip(weights.items(), grads, strict=True)
            }
        return self.known.gradients[case.name]

    def answer(
        self,
        question: str,
        inputs: Inputs,
        *,
        weights: Mapping[str, Tensor] | None = None,
        dropped: DropoutSite | None = None,
    ) -> Outputs:
        """Golden's outputs for inputs beside the cases, with stress weights unless told otherwise.

        Computed once a question: the same words must always come with the same tensors.
        """
        if question not in self.known.answers:
            with torch.no_grad():
                given = self.weights() if weights is None else weights
                result = golden.run(self.small, given, inputs, dropped)
                self.known.answers[question] = flat(result.outputs)
        return self.known.answers[question]

    @property
    def texts(self) -> Texts:
        """Texts and golden's greedy continuation of them, made once."""
        if not self.known.texts:
            self.known.texts.append(make_texts(self.small, self.weights()))
        return self.known.texts[0]

    def outputs(self, live: nn.Module, inputs: Inputs) -> Outputs:
        """The live model's outputs, without gradients, features cast to its dtype."""
        dtype = next(live.parameters()).dtype
        with torch.no_grad():
            return call(live, self.small, cast(inputs, dtype))
