"""The init scheme of a spec, part by part."""

from __future__ import annotations

from specc.ir.exhaustive import assert_never
from specc.ir.init import ZEROS, FanInUniform, Init, Normal, StandardNormal, XavierUniform
from specc.ir.sizes import Constant, Size
from specc.lower.context import Context


def _std(context: Context) -> Constant:
    return context.at_root().constant("init_std", context.spec.init.std, ("init", "std"))


def matrix(context: Context) -> Init:
    """The weight of a linear map."""
    kind = context.spec.init.kind
    match kind:
        case "normal":
            return Normal(_std(context))
        case "xavier_uniform":
            return XavierUniform()
        case "torch":
            return FanInUniform()
        case _:
            assert_never(kind)


def bias(context: Context) -> Init:
    """The bias of a linear map."""
    return FanInUniform() if context.spec.init.kind == "torch" else ZEROS


def table(context: Context) -> Init:
    """An embedding, or a learned table of positions."""
    return StandardNormal() if context.spec.init.kind == "torch" else Normal(_std(context))


def output_matrix(context: Context, depth: Size) -> Init:
    """The weight that ends a residual branch; `depth` is its stack's number of layers."""
    outputs = context.spec.init.outputs
    match outputs:
        case "same":
            return matrix(context)
        case "depth_scaled":
            return Normal(_std(context), depth)
        case "zero":
            return ZEROS
        case _:
            assert_never(outputs)


def output_bias(context: Context) -> Init:
    """The bias that ends a residual branch."""
    return ZEROS if context.spec.init.outputs == "zero" else bias(context)


def scores(context: Context) -> Init:
    """Learned scores of attention: near zero, or zero."""
    return Normal(_std(context)) if context.spec.init.kind == "normal" else ZEROS
