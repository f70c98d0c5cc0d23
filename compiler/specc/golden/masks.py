"""Who may look at whom, as boolean tensors: True = may look."""

from __future__ import annotations

import torch
from torch import Tensor

from specc.golden.positions import positions
from specc.ir.attention import Chunk, Reach, Window
from specc.ir.exhaustive import assert_never
from specc.ir.positions import PositionIndex


def causal(n_queries: int, n_keys: int) -> Tensor:
    """[n_queries, n_keys]: the queries are the last columns and look at themselves and before."""
    columns = torch.arange(n_keys)
    rows = torch.arange(n_keys - n_queries, n_keys)
    return columns[None, :] <= rows[:, None]


def window(is_causal: bool, size: int, length: int) -> Tensor:
    """[T, T]: keys less than `size` columns before the query; both ways, `size` columns or less."""
    columns = torch.arange(length)
    before = columns[:, None] - columns[None, :]
    return before < size if is_causal else before.abs() <= size


def chunks(size: int, length: int, real: Tensor | None) -> Tensor:
    """[B or 1, T, T]: keys whose place lies in the query's own run of `size` places."""
    batch = 1 if real is None else real.shape[0]
    chunk = positions(PositionIndex.MASK, batch, length, real) // size
    return chunk[:, :, None] == chunk[:, None, :]


def within(reach: Reach | None, is_causal: bool, length: int, real: Tensor | None) -> Tensor:
    """[B or 1, T, T]: the keys that lie near enough."""
    match reach:
        case None:
            return torch.ones(1, length, length, dtype=torch.bool)
        case Window(size):
            return window(is_causal, size.value, length)[None]
        case Chunk(size):
            return chunks(size.value, length, real)
        case _:
            assert_never(reach)


def over_self(
    is_causal: bool, length: int, real: Tensor | None, reach: Reach | None = None
) -> Tensor:
    """[B or 1, T, T]: real keys in reach (not after the query if causal), and the query itself."""
    order = causal(length, length) if is_causal else torch.ones(length, length, dtype=torch.bool)
    near = order[None] & within(reach, is_causal, length, real)
    if real is None:
        return near
    itself = torch.eye(length, dtype=torch.bool)
    return near & (real[:, None, :] | itself[None])


def over_memory(n_queries: int, n_keys: int, real: Tensor | None) -> Tensor:
    """[B or 1, T, S]: real keys only; a row may be empty."""
    if real is None:
        return torch.ones(1, n_queries, n_keys, dtype=torch.bool)
    return real[:, None, :].expand(-1, n_queries, -1)
