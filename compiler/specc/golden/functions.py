"""Activations, gates, caps and the masked softmax as pure formulas on tensors."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import Clamp
from specc.ir.layers import Activation


def activation(kind: Activation, x: Tensor) -> Tensor:
    """The named function of each value."""
    match kind:
        case Activation.RELU:
            return relu(x)
        case Activation.RELU_SQUARED:
            return relu(x) ** 2
        case Activation.GELU_ERF:
            return gelu_erf(x)
        case Activation.GELU_TANH:
            return gelu_tanh(x)
        case Activation.SILU:
            return silu(x)
        case Activation.TANH:
            return torch.tanh(x)
        case _:
            assert_never(kind)


def relu(x: Tensor) -> Tensor:
    """max(x, 0)."""
    return torch.where(x > 0, x, torch.zeros_like(x))


def gelu_erf(x: Tensor) -> Tensor:
    """x Phi(x), Phi the normal distribution function (Hendrycks & Gimpel 2016)."""
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def gelu_tanh(x: Tensor) -> Tensor:
    """The same paper's approximation through tanh."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def silu(x: Tensor) -> Tensor:
    """x sigma(x)."""
    return x * sigmoid(x)


def sigmoid(x: Tensor) -> Tensor:
    """1 / (1 + exp(-x)), below zero as exp(x) / (1 + exp(x)): nothing overflows or cancels."""
    rising = torch.exp(x.clamp(max=0.0))
    falling = torch.exp(-x.clamp(min=0.0))
    return torch.where(x < 0, rising / (1 + rising), 1 / (1 + falling))


def capped(x: Tensor, cap: float) -> Tensor:
    """cap * tanh(x / cap): near x where it is small, never beyond the cap."""
    return cap * torch.tanh(x / cap)


def gated(kind: Activation, clamp: Clamp | None, gate: Tensor, up: Tensor) -> Tensor:
    """activation(gate) * up (Shazeer 2020); a clamp has a product of its own."""
    if clamp is None:
        return activation(kind, gate) * up
    limit = clamp.limit.value
    gate, up = gate.clamp(max=limit), up.clamp(-limit, limit)
    return (up + clamp.up_offset.value) * gate * sigmoid(clamp.alpha.value * gate)


def masked_softmax(scores: Tensor, allowed: Tensor, sink: Tensor | None = None) -> Tensor:
    """exp(score) / sum of exp(score) over the allowed entries of the last axis; 0 elsewhere.

    The sum also counts the sink, a score without a column. A row without an allowed entry is 0.
    """
    lowest = torch.full_like(scores, -math.inf)
    top = torch.where(allowed, scores, lowest).amax(-1, keepdim=True).detach()
    top = torch.where(torch.isinf(top), torch.zeros_like(top), top)
    if sink is not None:
        top = torch.maximum(top, sink.detach())
    powers = torch.exp(torch.where(allowed, scores, top) - top)
    powers = torch.where(allowed, powers, torch.zeros_like(powers))
    total = powers.sum(-1, keepdim=True)
    if sink is not None:
        total = total + torch.exp(sink - top)
    return powers / torch.where(total > 0, total, torch.ones_like(total))
