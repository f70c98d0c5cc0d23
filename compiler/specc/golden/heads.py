"""What a model makes of its last features, head by head."""

from __future__ import annotations

import torch
from torch import Tensor

from specc.golden.functions import activation, capped
from specc.golden.products import Sequence
from specc.golden.scope import Scope
from specc.ir.exhaustive import assert_never
from specc.ir.heads import (
    ClassifierHead,
    FeaturesHead,
    Head,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Pool,
    Tied,
)
from specc.ir.layers import Linear


def head(part: Head, scope: Scope, x: Sequence) -> Tensor:
    """The head's output of the last features; `scope` is the model's."""
    match part:
        case LanguageModelHead():
            return _language_model(part, scope, x.features)
        case MaskedLanguageModelHead():
            hidden = activation(part.activation, scope.linear(part.dense, x.features))
            return _projected(part.projection, scope, scope.norm(part.norm, hidden))
        case ClassifierHead():
            summary = pooled(part.pool, x)
            if part.pooler is not None:
                dense = scope.linear(part.pooler.dense, summary)
                summary = activation(part.pooler.activation, dense)
            return scope.linear(part.projection, summary)
        case FeaturesHead():
            return x.features
        case _:
            assert_never(part)


def pooled(pool: Pool, x: Sequence) -> Tensor:
    """[B, D]: the first column, or the mean over real tokens (0 where there is none)."""
    match pool:
        case Pool.FIRST:
            return x.features[:, 0]
        case Pool.MEAN:
            if x.real is None:
                return x.features.mean(1)
            real = x.real[:, :, None]
            total = torch.where(real, x.features, torch.zeros_like(x.features)).sum(1)
            count = real.sum(1)
            return total / torch.where(count > 0, count, torch.ones_like(count)).to(total.dtype)
        case _:
            assert_never(pool)


def _language_model(part: LanguageModelHead, scope: Scope, x: Tensor) -> Tensor:
    """cap(out_scale * projection(project(in_scale * x))), without a padded vocabulary's rows."""
    if part.in_scale is not None:
        x = part.in_scale.value * x
    if part.project is not None:
        x = scope.linear(part.project, x)
    logits = _projected(part.projection, scope, x)
    if part.out_scale is not None:
        logits = part.out_scale.value * logits
    if part.softcap is not None:
        logits = capped(logits, part.softcap.value)
    return logits if part.vocab_size is None else logits[..., : part.vocab_size.value]


def _projected(part: Tied | Linear, scope: Scope, x: Tensor) -> Tensor:
    match part:
        case Linear():
            return scope.linear(part, x)
        case Tied(embedding, bias_name):
            logits = x @ scope.weight(f"{embedding.name}.weight").T
            return logits if bias_name is None else logits + scope.weight(bias_name)
        case _:
            assert_never(part)
