"""What a model makes of its last features. Each head gives one named output."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specc.ir.block import Embedding
from specc.ir.layers import Activation, Linear, Norm
from specc.ir.sizes import Constant, Size


@dataclass(frozen=True)
class Tied:
    """The output matrix is an embedding's own (Press & Wolf 2017); a bias has a name and starts at
    zero.
    """

    embedding: Embedding
    bias_name: str | None


@dataclass(frozen=True)
class LanguageModelHead:
    """Features [B, T, D] -> logits [B, T, V]: cap(out_scale * projection(project(in_scale * x))).

    cap(z) is softcap * tanh(z / softcap). Rows of a padded vocabulary from `vocab_size` on are cut
    off.
    """

    output_name: str
    project: Linear | None  # to the embedding's narrower width
    projection: Tied | Linear
    in_scale: Constant | None
    out_scale: Constant | None
    softcap: Constant | None
    vocab_size: Size | None  # None: the projection's rows are the vocabulary


@dataclass(frozen=True)
class MaskedLanguageModelHead:
    """Features -> logits [B, T, V] through a transform: projection(norm(activation(dense(x))))
    (BERT).
    """

    output_name: str
    dense: Linear
    activation: Activation
    norm: Norm
    projection: Tied | Linear


class Pool(Enum):
    """How many places become one."""

    FIRST = "first"  # the first column's features (put nothing before it: right padding only)
    MEAN = "mean"  # the mean over real tokens; an all-padding row gives 0


@dataclass(frozen=True)
class Pooler:
    """activation(dense(pooled)) before a classifier (BERT: tanh)."""

    dense: Linear
    activation: Activation


@dataclass(frozen=True)
class ClassifierHead:
    """Features -> class logits [B, C]."""

    output_name: str
    pool: Pool
    pooler: Pooler | None
    projection: Linear
    n_classes: Size


@dataclass(frozen=True)
class FeaturesHead:
    """The features [B, T, D] themselves."""

    output_name: str


Head = LanguageModelHead | MaskedLanguageModelHead | ClassifierHead | FeaturesHead
