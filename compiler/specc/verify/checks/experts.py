"""Mixtures of experts: what is computed for tokens that chose other experts, and in which dtype
experts are chosen. Neither shows in the numbers of a forward pass.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from specc.ir.feed_forward import MixtureOfExperts, Score
from specc.verify.checks.check import Check, counted
from specc.verify.metrics import relative_error
from specc.verify.places import mixtures
from specc.verify.report import Outcome, differs, failed, not_applicable, passed
from specc.verify.subject import Subject

NONE = "the spec has no experts"
TOKENS = (4, 9)
MOST_WORK = 1.5  # times the work of the chosen experts, router and shared expert included
SMALL = 2.0**-5
NEAR = 2.0**-12  # apart for bfloat16 beside SMALL, a tie after a sigmoid or a softmax in it
CLOSE = 0.1


def least_work(part: MixtureOfExperts, n_tokens: int) -> int:
    """Floating-point operations of router, chosen experts and shared expert."""
    d_model, experts = part.d_model.value, part.experts
    work = part.router.top_k.value * 3 * d_model * experts.d_ff.value
    work += d_model * experts.n_experts.value
    if part.shared is not None:
        work += 3 * d_model * part.shared.body.d_ff.value
        work += d_model if part.shared.gate is not None else 0
    return 2 * n_tokens * work


@dataclass(frozen=True)
class ExpertWork(Check):
    """Experts work for the tokens that chose them, and for no others."""

    name: str = "expert_work"

    def run(self, subject: Subject) -> Outcome:
        """Count floating-point operations."""
        live = subject.build_stressed(torch.float32)
        ratios = []
        for path, part in mixtures(subject.small):
            x = torch.randn(*TOKENS, part.d_model.value)
            with torch.no_grad(), FlopCounterMode(display=False) as counter:
                live.get_submodule(path)(x)
            ratio = counter.get_total_flops() / least_work(part, TOKENS[0] * TOKENS[1])
            if ratio > MOST_WORK:
                return failed(
                    f"{path} does {ratio:.2f} times the work of the chosen experts"
                    f" (limit {MOST_WORK})"
                )
            ratios.append(ratio)
        if not ratios:
            return not_applicable(NONE)
        return passed(f"at most {max(ratios):.2f} times the work of the chosen experts, counted")


@dataclass(frozen=True)
class ExpertChoice(Check):
    """Experts are chosen in float32 or wider, also by a model in bfloat16."""

    name: str = "expert_choice"
    share: float = 0.6

    def run(self, subject: Subject) -> Outcome:
        """Logits that bfloat16 tells apart, and probabilities that it does not."""
        live = subject.build_stressed()
        shares: list[float] = []
        for path, part in mixtures(subject.small):
            if part.router.score is not Score.TOPK_SOFTMAX:
                shares.append(_agreeing(live.get_submodule(path), part))
                if shares[-1] < self.share:
                    return differs(
                        f"{path}: in bfloat16 {shares[-1]:.0%} of tokens pass the experts that they"
                        f" choose in float64 (limit {self.share:.0%})",
                        1 - shares[-1],
                    )
        if not shares:
            return not_applicable("no router turns logits into scores before it chooses")
        told = counted(len(shares), "router")
        return passed(f"{told}, at least {min(shares):.0%} of near ties as in float64")


def _agreeing(live: nn.Module, part: MixtureOfExperts) -> float:
    """The share of near ties that bfloat16 decides as float64 does. Token i reads column i."""
    exact = deepcopy(live)
    with torch.no_grad():
        for tensor in exact.state_dict().values():
            tensor.copy_(tensor.to(torch.bfloat16))
        router = part.router
        exact.get_submodule(router.linear.name).load_state_dict(_near_ties(part))
        if router.selection_bias is not None:
            exact.get_buffer(router.selection_bias).zero_()
        coarse = deepcopy(exact).to(torch.bfloat16)
        x = torch.eye(part.d_model.value, dtype=torch.float64)[None]
        wanted, found = exact(x)[0], coarse(x.to(torch.bfloat16))[0]
    errors = [relative_error(a, b) for a, b in zip(found, wanted, strict=True)]
    return sum(error < CLOSE for error in errors) / len(errors)


def _near_ties(part: MixtureOfExperts) -> dict[str, Tensor]:
    """A router whose logits for each unit vector are the same numbers in another order."""
    n_experts = part.experts.n_experts.value
    generator = torch.Generator().manual_seed(3)
    ranks = [torch.randperm(n_experts, generator=generator) for _ in range(part.d_model.value)]
    weights = {"weight": SMALL + NEAR * torch.stack(ranks, dim=1).double()}
    if part.router.linear.bias:
        weights["bias"] = torch.zeros(n_experts, dtype=torch.float64)
    return weights
