"""The position-wise part of a block: plain, gated, or a mixture of experts."""

from __future__ import annotations

from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import Clamp, FeedForward, Glu, Mlp
from specc.ir.init import Init
from specc.ir.layers import Activation, Dropout, DropoutSite, Linear
from specc.ir.sizes import Size, width
from specc.lower import init
from specc.lower.context import Context
from specc.lower.dropout import dropout
from specc.lower.experts import mixture
from specc.spec import schema


def feed_forward(context: Context, node: schema.FeedForward, depth: Size) -> FeedForward:
    """What the node says; `depth` is the stack's number of layers."""
    out = dropout(context, DropoutSite.FF_OUT, "output_dropout")
    match node:
        case schema.Mlp():
            return _mlp(context, node, depth, out)
        case schema.Glu():
            d_ff = context.size("d_ff", node.d_ff, "F", ("feed_forward", "d_ff"))
            hidden = dropout(context, DropoutSite.FF_HIDDEN, "hidden_dropout")
            return glu(context, node, d_ff, depth, hidden, out)
        case schema.Experts():
            shared = _shared(context, node, depth)
            return mixture(context, node, depth, shared, clamp(context, node.clamp), out)
        case _:
            assert_never(node)


def _mlp(context: Context, node: schema.Mlp, depth: Size, out: Dropout | None) -> Mlp:
    d_model = context.d_model
    d_ff = context.size("d_ff", node.d_ff, "F", ("feed_forward", "d_ff"))
    up = _rising(context, "up_proj", d_ff, node.bias.up)
    down = _falling(context, d_ff, node.bias.down, depth)
    hidden = dropout(context, DropoutSite.FF_HIDDEN, "hidden_dropout")
    return Mlp(d_model, d_ff, Activation(node.activation), up, down, hidden, out)


def glu(
    context: Context,
    node: schema.Glu | schema.Experts,
    d_ff: Size,
    depth: Size,
    hidden: Dropout | None,
    out: Dropout | None,
) -> Glu:
    """A gated feed-forward of that width with the node's activation, clamp and biases."""
    return Glu(
        d_model=context.d_model,
        d_ff=d_ff,
        activation=Activation(node.activation),
        clamp=clamp(context, node.clamp),
        gate=_rising(context, "gate_proj", d_ff, node.bias.up),
        up=_rising(context, "up_proj", d_ff, node.bias.up),
        down=_falling(context, d_ff, node.bias.down, depth),
        hidden_dropout=hidden,
        output_dropout=out,
    )


def _shared(context: Context, node: schema.Experts, depth: Size) -> Glu | None:
    """The body of the shared expert: as the others, of its own width."""
    if node.shared is None:
        return None
    inside = context.inside(part="shared")
    path = ("feed_forward", "shared", "d_ff")
    d_ff = inside.size("d_ff", node.shared.d_ff, "F", path)
    return glu(context, node, d_ff, depth, None, None)


def clamp(context: Context, node: schema.Clamp | None) -> Clamp | None:
    """The clamp of a gated feed-forward, if it has one."""
    if node is None:
        return None
    path = ("feed_forward", "clamp")
    return Clamp(
        alpha=context.constant("clamp_alpha", node.alpha, (*path, "alpha")),
        limit=context.constant("clamp_limit", node.limit, (*path, "limit")),
        up_offset=context.constant("clamp_up_offset", node.up_offset, (*path, "up_offset")),
    )


def _rising(context: Context, name: str, d_ff: Size, has_bias: bool) -> Linear:
    weight, bias = init.matrix(context), init.bias(context)
    return _linear(name, context.d_model, d_ff, has_bias, weight, bias)


def _falling(context: Context, d_ff: Size, has_bias: bool, depth: Size) -> Linear:
    weight, bias = init.output_matrix(context, depth), init.output_bias(context)
    return _linear("down_proj", d_ff, context.d_model, has_bias, weight, bias)


def _linear(
    name: str, inputs: Size, outputs: Size, has_bias: bool, weight: Init, bias: Init
) -> Linear:
    return Linear(name, width(inputs), width(outputs), has_bias, weight, bias)
