"""Late positions: what low precision counts wrongly, or a short table hides."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from specc import golden
from specc.golden import Inputs
from specc.ir.model import Kind, Model
from specc.ir.positions import LearnedPosition, Rotary, Sinusoidal
from specc.ir.walk import resize, walk
from specc.verify.calls import Outputs, call, flat
from specc.verify.checks.check import Check
from specc.verify.inputs import random_tokens
from specc.verify.live import reset
from specc.verify.metrics import margin, worst_error
from specc.verify.report import Outcome, failed, not_applicable, passed
from specc.verify.subject import Subject
from specc.verify.weights import stress_weights

LIMIT = 1e-12
LENGTH = 300  # bfloat16 takes 257 for 256
ROOM = 331


@dataclass(frozen=True)
class LatePositions(Check):
    """Places beyond 256, where bfloat16 no longer counts one by one, are told apart."""

    name: str = "late_positions"

    def run(self, subject: Subject) -> Outcome:
        """One long row in float64, at the reduced size but for the tables of positions."""
        if subject.model.kind is Kind.FEATURES:
            return not_applicable("a set has no positions")
        sizes = {**subject.numbers, **_longer(subject.model)}
        model = resize(subject.model, sizes)
        live = subject.file.model_class(subject.file.config_class(**sizes)).double()
        reset(live)
        live.load_state_dict(stress_weights(model))
        found = _outputs(live.eval(), model)
        error, output = worst_error(found, _wanted(subject, model))
        text = f"{output} of {LENGTH} places is off by {error:.1e} (limit {LIMIT:.0e})"
        if error > LIMIT:
            return failed(text, margin(error, LIMIT))
        return passed(f"max relative error {error:.1e} at {LENGTH} places (limit {LIMIT:.0e})")


def _longer(model: Model) -> dict[str, int]:
    """Room in every table of positions."""
    tables = (p for p in walk(model.stacks) if isinstance(p, Sinusoidal | LearnedPosition | Rotary))
    return {table.size.name: ROOM for table in tables}


def _inputs(model: Model) -> Inputs:
    generator = torch.Generator().manual_seed(3)
    rows = [random_tokens(stack, LENGTH, generator)[:1] for stack in model.stacks]
    if model.kind is Kind.ENCODER_DECODER:
        return Inputs(source=rows[0], target=rows[1])
    return Inputs(tokens=rows[0])


def _outputs(live: nn.Module, model: Model) -> Outputs:
    with torch.no_grad():
        return call(live, model, _inputs(model))


def _wanted(subject: Subject, model: Model) -> Outputs:
    """Golden's answer, kept for the next file of this model."""
    if "late positions" not in subject.known.answers:
        with torch.no_grad():
            result = golden.run(model, stress_weights(model), _inputs(model))
        subject.known.answers["late positions"] = flat(result.outputs)
    return subject.known.answers["late positions"]
