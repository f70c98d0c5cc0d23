"""Norms: defaults by kind, and the eps of each role."""

from __future__ import annotations

from specc.ir.exhaustive import assert_never
from specc.ir.layers import Cast, LayerNorm, Norm, NormWeight, RmsNorm
from specc.ir.sizes import Constant, Size, Width
from specc.lower.context import Context
from specc.lower.names import RelativePath
from specc.spec import schema


def layer_eps(
    context: Context, norm: schema.Norm, path: RelativePath = ("norm", "eps")
) -> Constant:
    """The eps of a layer's own norms."""
    return context.inside(part="").constant("norm_eps", norm.eps, path)


def role_eps(context: Context, role: str, value: float, path: RelativePath) -> Constant:
    """The eps of a norm with a role of its own; `norm_eps` where it equals that of the layers."""
    return context.constant(f"{role}_norm_eps", value, path, share_with="norm_eps")


def norm(
    node: schema.Norm | schema.RmsQkNorm,
    name: str,
    width: Width,
    eps: Constant,
    heads: Size | None = None,
) -> Norm:
    """The IR of a norm node whose eps has its name already; `heads` have a gain each."""
    weight = NormWeight(node.weight)
    match node.kind:
        case "layer":
            has_bias = weight is not NormWeight.NONE if node.bias is None else node.bias
            return LayerNorm(name, width, eps, weight, has_bias, heads)
        case "rms":
            return RmsNorm(name, width, eps, weight, _cast(node), heads)
        case _:
            assert_never(node.kind)


def _cast(node: schema.Norm | schema.RmsQkNorm) -> Cast:
    return Cast.AFTER_WEIGHT if node.cast == "after_weight" else Cast.BEFORE_WEIGHT
