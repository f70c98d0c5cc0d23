"""A stack: embeddings with positions (or features as they come), layers, final norm."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from torch import Tensor

from specc.golden.blocks import block
from specc.golden.positions import id_positions, positions, sinusoids
from specc.golden.products import Sequence
from specc.golden.scope import Scope
from specc.ir.block import Embedding, EmbeddingScale, ProjectAt, Projection, Stack, TokenInput
from specc.ir.exhaustive import assert_never
from specc.ir.positions import InputPosition, LearnedPosition, PositionIndex, Sinusoidal
from specc.ir.sizes import Constant


def stack(part: Stack, scope: Scope, x: Sequence, memory: Sequence | None) -> Tensor:
    """The last features [B, T, D] of a stack whose input is x; `scope` is the model's."""
    for i, layer in enumerate(part.layers):
        name = f"{part.layers_name}.{i}"
        inside = replace(scope.inside(name), layer=i + 1)
        features = block(layer.block, inside, x, memory)
        x = replace(x, features=scope.note(name, features))
    return x.features if part.final_norm is None else scope.norm(part.final_norm, x.features)


def token_features(
    part: TokenInput, scope: Scope, tokens: Tensor, real: Tensor | None, types: Tensor | None
) -> Tensor:
    """[B, T, D]: dropout(norm(scale * token + type + position)). Types not given are 0.

    A projection stands before the other summands, before the norm, or between norm and dropout.
    """
    x = _rows(part.embedding, scope, tokens) * _scale(part)
    x = _projected(part.project, scope, x, ProjectAt.BEFORE_POSITION)
    if part.types is not None:
        x = x + _rows(part.types, scope, torch.zeros_like(tokens) if types is None else types)
    elif types is not None:
        raise ValueError("the model does not read token_types")
    if part.position is not None:
        x = x + _position(part.position, scope, tokens, real).to(x.dtype)
    x = _projected(part.project, scope, x, ProjectAt.BEFORE_NORM)
    if part.norm is not None:
        x = scope.norm(part.norm, x)
    x = _projected(part.project, scope, x, ProjectAt.AFTER_NORM)
    if part.dropout is None:
        return x
    return scope.note(part.dropout.name, scope.drop(part.dropout, x))


def _projected(part: Projection | None, scope: Scope, x: Tensor, here: ProjectAt) -> Tensor:
    return x if part is None or part.at is not here else scope.linear(part.linear, x)


def _rows(part: Embedding, scope: Scope, ids: Tensor) -> Tensor:
    if ids.numel() and not 0 <= int(ids.min()) <= int(ids.max()) < part.rows.value:
        raise ValueError(f"{part.name} has {part.rows.value} rows; an id lies outside them")
    return scope.note(part.name, scope.weight(f"{part.name}.weight")[ids])


def _scale(part: TokenInput) -> float:
    match part.scale:
        case EmbeddingScale.ONE:
            return 1.0
        case EmbeddingScale.SQRT_WIDTH:
            return math.sqrt(part.embedding.width.value)
        case Constant():
            return part.scale.value
        case _:
            assert_never(part.scale)


def _position(part: InputPosition, scope: Scope, tokens: Tensor, real: Tensor | None) -> Tensor:
    batch, length = tokens.shape
    if length > part.size.value:
        raise ValueError(f"{length} tokens, but {part.size.name} is {part.size.value}")
    match part:
        case Sinusoidal():
            places = positions(part.index, batch, length, real)
            rows = sinusoids(places, part.width.value, part.layout, part.frequency)
        case LearnedPosition():
            rows = scope.weight(f"{part.name}.weight")[_table_rows(part, tokens, real)]
        case _:
            assert_never(part)
    return scope.note(part.name, rows)


def _table_rows(part: LearnedPosition, tokens: Tensor, real: Tensor | None) -> Tensor:
    """[B, T]: which row of its table each token reads."""
    if part.index is not PositionIndex.IDS:
        batch, length = tokens.shape
        return positions(part.index, batch, length, real) + part.offset
    if part.pad_id is None or part.offset < 1:
        raise ValueError(f"{part.name} counts ids: it needs a padding id, and a row before row 0")
    return id_positions(tokens, part.pad_id) + part.offset
