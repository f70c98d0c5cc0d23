"""A block's wiring as slots, and how blocks make a stack.

Each sublayer is one equation: x <- out(residual(x) + multiplier * layer_scale *
post(body(pre(x)))). Which slots are filled is what
papers call
pre-norm (pre), post-norm (out), sandwich (pre and post) and post-sublayer norm (post).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specc.ir.attention import Attention, LatentAttention
from specc.ir.feed_forward import FeedForward
from specc.ir.init import Init
from specc.ir.layers import Dropout, Linear, Norm
from specc.ir.positions import InputPosition
from specc.ir.sizes import Constant, Size, Width


class Wiring(Enum):
    """What each sublayer of a block reads."""

    SEQUENTIAL = "sequential"  # each sublayer reads what the one before it left
    PARALLEL = "parallel"  # all sublayers read the same x, one sum adds them (no `out` slot)


class Residual(Enum):
    """What a sublayer's output is added to."""

    RAW = "raw"  # x
    NORMED = "normed"  # pre(x)


@dataclass(frozen=True)
class LayerScale:
    """A learned gain [width] on what a sublayer adds (Touvron et al. 2021)."""

    name: str
    width: Width
    init: Init


@dataclass(frozen=True)
class Sublayer:
    """One attention or feed-forward with its norm slots. `name` is its attribute in the block."""

    name: str
    body: Attention | LatentAttention | FeedForward
    pre: Norm | None
    post: Norm | None
    out: Norm | None
    residual: Residual
    multiplier: Constant | None  # of what the sublayer adds
    layer_scale: LayerScale | None


@dataclass(frozen=True)
class Block:
    """Sublayers in order. Parallel sublayers whose `pre` has one name share that one norm."""

    wiring: Wiring
    sublayers: tuple[Sublayer, ...]


@dataclass(frozen=True)
class LayerType:
    """A named kind of layer of a pattern; `name` is "layer" when there is one kind only."""

    name: str
    block: Block


@dataclass(frozen=True)
class Segment:
    """n_layers layers that run through `cycle` (indices into the stack's layer types) again and
    again.
    """

    cycle: tuple[int, ...]
    n_layers: Size


class EmbeddingScale(Enum):
    """Factors of the embedding that are no free number."""

    ONE = "one"
    SQRT_WIDTH = "sqrt_d_model"


@dataclass(frozen=True)
class Embedding:
    """A table [rows, width] that ids read rows of."""

    name: str
    rows: Size
    width: Size
    init: Init


class ProjectAt(Enum):
    """Where a narrower embedding is mapped to the model's width."""

    BEFORE_POSITION = "before_position"  # positions and types have the model's width
    BEFORE_NORM = "before_norm"  # positions and types are as narrow as the embedding
    AFTER_NORM = "after_norm"  # the norm is as narrow as the embedding too


@dataclass(frozen=True)
class Projection:
    """A linear map from the embedding's width to the model's."""

    linear: Linear
    at: ProjectAt


@dataclass(frozen=True)
class TokenInput:
    """dropout(norm(scale * token + type + position)), with a projection at one of three places."""

    embedding: Embedding
    scale: EmbeddingScale | Constant
    types: Embedding | None
    position: InputPosition | None
    project: Projection | None
    norm: Norm | None
    dropout: Dropout | None


@dataclass(frozen=True)
class FeatureInput:
    """Features [B, T, D] come from outside, as they are."""

    d_model: Size


@dataclass(frozen=True)
class Stack:
    """Input, layers, final norm. `name` says its role; `layers_name` is the attribute of its module
    list.
    """

    name: str  # "decoder" or "encoder"
    layers_name: str
    input: TokenInput | FeatureInput
    layer_types: tuple[LayerType, ...]
    segments: tuple[Segment, ...]
    final_norm: Norm | None

    @property
    def layers(self) -> tuple[LayerType, ...]:
        """The layer types in the order in which tokens pass them."""
        return tuple(
            self.layer_types[segment.cycle[i % len(segment.cycle)]]
            for segment in self.segments
            for i in range(segment.n_layers.value)
        )
