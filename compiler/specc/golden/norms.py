"""Layer, RMS and L2 norms by their definitions, in the order of casts that the IR names.

A norm computes in float32 at least; in float64 no cast changes anything.
"""

from __future__ import annotations

import torch
from torch import Tensor

from specc.ir.exhaustive import assert_never
from specc.ir.layers import Cast, LayerNorm, Norm, NormWeight, RmsNorm


def norm(part: Norm, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None) -> Tensor:
    """The norm of x [..., width]; `weight` and `bias` [width] where the part has them.

    Of gains that each head has for itself, [heads, width], x is [..., heads, length, width].
    """
    _check(part, x, weight, bias)
    if part.heads is not None:
        weight, bias = (None if w is None else w[:, None, :] for w in (weight, bias))
    match part:
        case LayerNorm():
            return _layer_norm(part, x, weight, bias)
        case RmsNorm():
            return _rms_norm(part, x, weight)
        case _:
            assert_never(part)


def standardised(x: Tensor, eps: float) -> Tensor:
    """(x - mean) / sqrt(var + eps) over the last axis, biased variance (Ba et al. 2016)."""
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred * centred).mean(-1, keepdim=True) + eps)


def rms_scaled(x: Tensor, eps: float) -> Tensor:
    """x / sqrt(mean(x^2) + eps) over the last axis (Zhang & Sennrich 2019)."""
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)


def l2_scaled(x: Tensor, eps: float) -> Tensor:
    """x / max(|x|, eps) over the last axis (Henry et al. 2020)."""
    squares = (x * x).sum(-1, keepdim=True)
    is_short = squares <= eps * eps
    length = torch.sqrt(torch.where(is_short, torch.ones_like(squares), squares))
    return x / torch.where(is_short, torch.full_like(length, eps), length)


def _layer_norm(part: LayerNorm, x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    y = standardised(_wide(x), part.eps.value)
    match part.weight:
        case NormWeight.PLAIN:
            y = y * _wide(_given(weight))
        case NormWeight.ONE_PLUS:
            # the published layer norm of this form adds the 1 in the weight's own dtype
            y = y * _wide(1 + _given(weight))
        case NormWeight.NONE:
            pass
        case _:
            assert_never(part.weight)
    if part.bias:
        y = y + _wide(_given(bias))
    return y.to(x.dtype)


def _rms_norm(part: RmsNorm, x: Tensor, weight: Tensor | None) -> Tensor:
    y = rms_scaled(_wide(x), part.eps.value)
    if part.weight is NormWeight.NONE:
        return y.to(x.dtype)
    match part.cast:
        case Cast.BEFORE_WEIGHT:
            return _gain(part.weight, _given(weight)) * y.to(x.dtype)
        case Cast.AFTER_WEIGHT:
            return (_gain(part.weight, _wide(_given(weight))) * y).to(x.dtype)
        case _:
            assert_never(part.cast)


def _gain(kind: NormWeight, weight: Tensor) -> Tensor:
    return 1 + weight if kind is NormWeight.ONE_PLUS else weight


def _wide(x: Tensor) -> Tensor:
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _given(weight: Tensor | None) -> Tensor:
    if weight is None:
        raise ValueError("the norm has a weight or bias that was not given")
    return weight


def _check(part: Norm, x: Tensor, weight: Tensor | None, bias: Tensor | None) -> None:
    width = part.width.value
    shape = (width,) if part.heads is None else (part.heads.value, width)
    if x.shape[-1] != width:
        raise ValueError(f"{part.name} norms {width} features, got {x.shape[-1]}")
    takes_bias = isinstance(part, LayerNorm) and part.bias
    if part.heads is not None and x.shape[-3] != part.heads.value:
        raise ValueError(f"{part.name} norms {part.heads.value} heads, got {x.shape[-3]}")
    for label, value, is_taken in (
        ("weight", weight, part.weight is not NormWeight.NONE),
        ("bias", bias, takes_bias),
    ):
        if (value is not None) != is_taken:
            raise ValueError(f"{part.name}.{label} is {'missing' if is_taken else 'not wanted'}")
        if value is not None and tuple(value.shape) != shape:
            raise ValueError(f"{part.name}.{label} has shape {tuple(value.shape)}, not {shape}")
