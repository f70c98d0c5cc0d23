"""The leaves of the IR: linear maps, norms and dropout sites. Each carries its attribute name in
the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specc.ir.init import Init
from specc.ir.sizes import Constant, Size, Width


@dataclass(frozen=True)
class Linear:
    """y = x W^T (+ b), W of shape [outputs, inputs]."""

    name: str
    inputs: Width
    outputs: Width
    bias: bool
    init: Init
    bias_init: Init


class NormWeight(Enum):
    """What multiplies the normalised x."""

    PLAIN = "w"  # w * x, w starts at 1
    ONE_PLUS = "one_plus_w"  # (1 + w) * x, w starts at 0
    NONE = "none"


class Cast(Enum):
    """When a norm that computes in float32 goes back to the input's dtype."""

    BEFORE_WEIGHT = "before_weight"  # weight * x.to(dtype)
    AFTER_WEIGHT = "after_weight"  # (weight * x).to(dtype)


@dataclass(frozen=True)
class LayerNorm:
    """(x - mean) / sqrt(var + eps), biased variance (Ba et al. 2016); cast after the weight."""

    name: str
    width: Width
    eps: Constant
    weight: NormWeight
    bias: bool
    heads: Size | None  # gains [heads, width], one for each head, in place of [width]


@dataclass(frozen=True)
class RmsNorm:
    """x / sqrt(mean(x^2) + eps) (Zhang & Sennrich 2019)."""

    name: str
    width: Width
    eps: Constant
    weight: NormWeight
    cast: Cast
    heads: Size | None  # gains [heads, width], one for each head, in place of [width]


Norm = LayerNorm | RmsNorm


class DropoutSite(Enum):
    """The five named places where a spec may drop values."""

    EMBEDDING = "embedding"  # the sum of the embeddings, after their norm
    ATTENTION = "attention"  # the attention weights
    ATTENTION_OUT = "attention_out"  # what the output projection gives
    FF_HIDDEN = "ff_hidden"  # the hidden features after the activation
    FF_OUT = "ff_out"  # what the feed-forward gives


@dataclass(frozen=True)
class Dropout:
    """Zero each value with probability p while training. `name` is the attribute that holds it."""

    name: str
    site: DropoutSite
    p: Constant


class Activation(Enum):
    """Functions applied feature by feature."""

    RELU = "relu"
    RELU_SQUARED = "relu_squared"
    GELU_ERF = "gelu_erf"
    GELU_TANH = "gelu_tanh"
    SILU = "silu"
    TANH = "tanh"
