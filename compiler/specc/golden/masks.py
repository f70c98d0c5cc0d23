"""Who may look at whom, as boolean tensors: True = may look."""

from __future__ import annotations

import torch
from torch import Tensor


def causal(n_queries: int, n_keys: int) -> Tensor:
    """[n_queries, n_keys]: the queries are the last columns and look at themselves and before."""
    columns = torch.arange(n_keys)
    rows = torch.arange(n_keys - n_queries, n_keys)
    return columns[None, :] <= rows[:, None]


def over_self(is_causal: bool, length: int, real: Tensor | None) -> Tensor:
    """[B or 1, T, T]: real keys (not after the query if causal), and always the query itself."""
    order = causal(length, length) if is_causal else torch.ones(length, length, dtype=torch.bool)
    if real is None:
        return order[None]
    itself = torch.eye(length, dtype=torch.bool)
    return order[None] & (real[:, None, :] | itself[None])


def over_memory(n_queries: int, n_keys: int, real: Tensor | None) -> Tensor:
    """[B or 1, T, S]: real keys only; a row may be empty."""
    if real is None:
        return torch.ones(1, n_queries, n_keys, dtype=torch.bool)
    return real[:, None, :].expand(-1, n_queries, -1)
