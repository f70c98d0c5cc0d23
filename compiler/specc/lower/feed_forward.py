"""The position-wise part of a block."""

from __future__ import annotations

from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import FeedForward, Glu, Mlp
from specc.ir.init import Init
from specc.ir.layers import Activation, DropoutSite, Linear
from specc.ir.sizes import Size, width
from specc.lower import init
from specc.lower.context import Context
from specc.lower.dropout import dropout
from specc.spec import schema


def feed_forward(context: Context, node: schema.FeedForward, depth: Size) -> FeedForward:
    """Plain or gated, as the node says; `depth` is the stack's number of layers."""
    d_model = context.d_model
    d_ff = context.size("d_ff", node.d_ff, "F", ("feed_forward", "d_ff"))

    def rising(name: str) -> Linear:
        weight, bias = init.matrix(context), init.bias(context)
        return _linear(name, d_model, d_ff, node.bias.up, weight, bias)

    activation = Activation(node.activation)
    output, output_bias = init.output_matrix(context, depth), init.output_bias(context)
    down = _linear("down_proj", d_ff, d_model, node.bias.down, output, output_bias)
    hidden = dropout(context, DropoutSite.FF_HIDDEN, "hidden_dropout")
    out = dropout(context, DropoutSite.FF_OUT, "output_dropout")
    match node.kind:
        case "mlp":
            return Mlp(d_model, d_ff, activation, rising("up_proj"), down, hidden, out)
        case "glu":
            gate, up = rising("gate_proj"), rising("up_proj")
            return Glu(d_model, d_ff, activation, None, gate, up, down, hidden, out)
        case _:
            assert_never(node.kind)


def _linear(
    name: str, inputs: Size, outputs: Size, has_bias: bool, weight: Init, bias: Init
) -> Linear:
    return Linear(name, width(inputs), width(outputs), has_bias, weight, bias)
