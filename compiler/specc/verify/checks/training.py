"""Training works: one small batch is learned by heart under bfloat16 autocast."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from specc.golden import Inputs
from specc.ir.block import TokenInput
from specc.verify.calls import Outputs, call
from specc.verify.checks.check import Check
from specc.verify.inputs import cast, changed
from specc.verify.places import dropout_places
from specc.verify.report import Outcome, failed, passed
from specc.verify.subject import Subject

MOST_STEPS = 400  # models whose logits are multiplied down learn slowly
LEARNING_RATE = 5e-3
FACTOR = 10.0


@dataclass(frozen=True)
class Overfit(Check):
    """One batch can be learned under bfloat16 autocast, with AdamW and gradient clipping."""

    name: str = "overfit"

    def run(self, subject: Subject) -> Outcome:
        """Start from the file's own init; every output's last axis is logits of random classes."""
        live = subject.build(torch.float32).train()
        for place in dropout_places(subject.small):
            place.set(live, 0.0)
        inputs = cast(_distinct(subject), torch.float32)
        losses = _train(live, subject, inputs)
        factor = losses[0] / losses[-1] if losses[-1] > 0 else float("inf")
        text = f"loss {losses[0]:.2f} -> {losses[-1]:.3f} in {len(losses)} steps"
        if not factor >= FACTOR:
            return failed(f"{text}: it should fall by {FACTOR:.0f} times or more")
        return passed(f"{text} (at least {FACTOR:.0f} times lower)")


def _distinct(subject: Subject) -> Inputs:
    """Two rows of distinct tokens, so that a model without positions can tell them apart."""
    inputs = subject.plain
    found = {n: v[:2] for n, v in vars(inputs).items() if isinstance(v, Tensor)}
    for name in ("tokens", "source", "target"):
        if name in found:
            stack = subject.small.stacks[-1 if name == "target" else 0]
            if isinstance(stack.input, TokenInput):
                ids = torch.randperm(stack.input.embedding.rows.value)
                found[name] = ids[: found[name].numel()].view(found[name].shape)
    return changed(inputs, **found)


def _train(live: nn.Module, subject: Subject, inputs: Inputs) -> list[float]:
    optimizer = torch.optim.AdamW(live.parameters(), lr=LEARNING_RATE)
    classes: dict[str, Tensor] = {}
    losses = []
    for _ in range(MOST_STEPS):
        with torch.autocast("cpu", torch.bfloat16):
            loss = _loss(call(live, subject.small, inputs), classes)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(live.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
        if losses[-1] * FACTOR <= losses[0]:
            break
    return losses


def _loss(outputs: Outputs, classes: dict[str, Tensor]) -> Tensor:
    total = torch.zeros(())
    for name, tensor in outputs.items():
        logits = tensor.float().flatten(0, -2)
        if name not in classes:
            classes[name] = torch.randint(logits.shape[1], logits.shape[:1])
        total = total + cross_entropy(logits, classes[name])
    return total
