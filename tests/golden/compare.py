"""How far two tensors are apart, and one part of the IR run alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from specc.golden.attention import attention
from specc.golden.blocks import block
from specc.golden.products import Sequence
from specc.golden.scope import Scope
from specc.ir.attention import Attention
from specc.ir.block import Block


def gap(found: Tensor, expected: Tensor) -> float:
    """max|a - b| / max|b|; the shapes must be equal."""
    if found.shape != expected.shape:
        raise ValueError(f"{tuple(found.shape)} is not {tuple(expected.shape)}")
    return float((found - expected).detach().abs().max() / expected.detach().abs().max())


def run_attention(
    part: Attention,
    weights: Mapping[str, Tensor],
    x: Tensor,
    real: Tensor | None = None,
    memory: Tensor | None = None,
    memory_real: Tensor | None = None,
) -> tuple[Tensor, dict[str, Tensor]]:
    """The output, and what attention noted on its way under "attention...."."""
    scope = Scope({f"attention.{name}": w for name, w in weights.items()}, {}, None, "attention")
    source = None if memory is None else Sequence(memory, memory_real)
    return attention(part, scope, Sequence(x, real), source), scope.trace


def run_block(
    part: Block,
    weights: Mapping[str, Tensor],
    x: Tensor,
    real: Tensor | None = None,
    memory: Tensor | None = None,
    memory_real: Tensor | None = None,
) -> Tensor:
    source = None if memory is None else Sequence(memory, memory_real)
    return block(part, Scope(weights, {}, None), Sequence(x, real), source)


def shake(module: torch.nn.Module) -> dict[str, Tensor]:
    """Fill every parameter and persistent float buffer at random (gains around 1), by name."""
    found = dict(module.named_parameters())
    kept = {n: t for n, t in module.state_dict(keep_vars=True).items() if t.is_floating_point()}
    tensors = found | {n: t for n, t in kept.items() if not isinstance(t, torch.nn.Parameter)}
    with torch.no_grad():
        for name, tensor in tensors.items():
            noise = torch.randn_like(tensor)
            if tensor.ndim > 1:
                tensor.copy_(noise / tensor.shape[-1] ** 0.5)
            else:
                is_gain = "norm" in name.lower() or "ln_" in name
                tensor.copy_(0.4 * noise + float(is_gain and name.endswith("weight")))
    return {name: tensor.detach() for name, tensor in tensors.items()}


def lift(monkeypatch: Any) -> None:
    """Make what asks for float32 get float64."""
    monkeypatch.setattr(torch, "float32", torch.float64)
    monkeypatch.setattr(torch, "float", torch.float64)
    monkeypatch.setattr(torch.Tensor, "float", torch.Tensor.double)
