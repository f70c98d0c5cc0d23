"""Self- and cross-attention, with what follows from the spec's other fields filled in."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.attention import (
    Attention,
    AttentionSource,
    Chunk,
    Factor,
    FusedProjection,
    InverseSqrt,
    NormOver,
    OutputGate,
    PositionTemperature,
    Projections,
    QkL2Norm,
    QkNorm,
    Reach,
    Scale,
    SeparateProjections,
    Sinks,
    Temperature,
    Unscaled,
    Window,
)
from specc.ir.exhaustive import assert_never
from specc.ir.init import LogSqrt
from specc.ir.layers import DropoutSite, Linear
from specc.ir.sizes import Constant, Size, Width, width
from specc.lower import derived, init, norms, positions
from specc.lower.context import Context
from specc.lower.dropout import dropout
from specc.spec import schema


@dataclass(frozen=True)
class _Heads:
    """The sizes of one attention."""

    n_heads: Size
    n_kv_heads: Size
    head_dim: Size

    @property
    def q_width(self) -> Width:
        return width(self.n_heads, self.head_dim)

    @property
    def kv_width(self) -> Width:
        return width(self.n_kv_heads, self.head_dim)

    @property
    def qkv_width(self) -> Width:
        if self.n_kv_heads == self.n_heads:
            return width(3, self.n_heads, self.head_dim)
        return Width(((self.n_heads, self.head_dim), (2, self.n_kv_heads, self.head_dim)))


def self_attention(
    context: Context, node: schema.Attention, layer: schema.Layer, depth: Size
) -> Attention:
    """Attention over the block's own tokens: causal in a decoder."""
    heads = _heads(context, node, "attention")
    causal = context.is_causal
    return Attention(
        source=AttentionSource.SELF,
        causal=causal,
        cached=causal and "cache" in context.spec.features,
        d_model=context.d_model,
        n_heads=heads.n_heads,
        n_kv_heads=heads.n_kv_heads,
        head_dim=heads.head_dim,
        projections=_projections(context, node, heads),
        output=_output(context, node, heads, depth),
        scale=_scale(context, node, heads, "attention"),
        qk_norm=_qk_norm(context, node, layer, heads, "attention"),
        position=positions.attention_position(
            context, layer.position, heads.n_heads, heads.head_dim
        ),
        reach=_reach(context, node),
        clip=_constant(context, "attention", "clip_qkv", node.clip_qkv),
        softcap=_constant(context, "attention", "softcap", node.softcap, "attention_softcap"),
        sinks=Sinks("sinks", heads.n_heads, init.scores(context)) if node.sinks else None,
        temperature=_temperature_by_position(context, node),
        gate=_gate(context, node, heads),
        scale_by_layer=node.scale_by_layer,
        dropout=dropout(context, DropoutSite.ATTENTION, "dropout"),
        output_dropout=dropout(context, DropoutSite.ATTENTION_OUT, "output_dropout"),
        gives_weights="attention_weights" in context.spec.outputs,
    )


def cross_attention(
    context: Context, node: schema.Attention, layer: schema.Layer, depth: Size
) -> Attention:
    """Attention of the block's tokens over a memory, all of it, without positions."""
    context = context.inside(part="cross")
    heads = _heads(context, node, "cross_attention")
    return Attention(
        source=AttentionSource.MEMORY,
        causal=False,
        cached="cache" in context.spec.features,
        d_model=context.d_model,
        n_heads=heads.n_heads,
        n_kv_heads=heads.n_kv_heads,
        head_dim=heads.head_dim,
        projections=_projections(context, node, heads),
        output=_output(context, node, heads, depth),
        scale=_scale(context, node, heads, "cross_attention"),
        qk_norm=_qk_norm(context, node, layer, heads, "cross_attention"),
        position=None,
        reach=None,
        clip=_constant(context, "cross_attention", "clip_qkv", node.clip_qkv),
        softcap=_constant(context, "cross_attention", "softcap", node.softcap, "attention_softcap"),
        sinks=Sinks("sinks", heads.n_heads, init.scores(context)) if node.sinks else None,
        temperature=None,
        gate=_gate(context, node, heads),
        scale_by_layer=node.scale_by_layer,
        dropout=dropout(context, DropoutSite.ATTENTION, "dropout"),
        output_dropout=dropout(context, DropoutSite.ATTENTION_OUT, "output_dropout"),
        gives_weights=False,
    )


def _heads(context: Context, node: schema.Attention, key: str) -> _Heads:
    n_heads = context.size("n_heads", node.n_heads, "H", (key, "n_heads"))
    n_kv_heads = n_heads
    if derived.n_kv_heads(node) != node.n_heads:
        n_kv_heads = context.size("n_kv_heads", derived.n_kv_heads(node), "K", (key, "n_kv_heads"))
    head_width = derived.head_dim(node, context.spec.d_model)
    head_dim = context.size("head_dim", head_width, "E", (key, "head_dim"))
    return _Heads(n_heads, n_kv_heads, head_dim)


def _projections(context: Context, node: schema.Attention, heads: _Heads) -> Projections:
    def linear(name: str, outputs: Width, has_bias: bool) -> Linear:
        return Linear(
            name=name,
            inputs=width(context.d_model),
            outputs=outputs,
            bias=has_bias,
            init=init.matrix(context),
            bias_init=init.bias(context),
        )

    match node.projection:
        case "separate":
            return SeparateProjections(
                q=linear("q_proj", heads.q_width, node.bias.q),
                k=linear("k_proj", heads.kv_width, node.bias.k),
                v=linear("v_proj", heads.kv_width, node.bias.v),
            )
        case "fused":
            return FusedProjection(linear("qkv_proj", heads.qkv_width, node.bias.q))
        case _:
            assert_never(node.projection)


def _output(context: Context, node: schema.Attention, heads: _Heads, depth: Size) -> Linear:
    return Linear(
        name="o_proj",
        inputs=heads.q_width,
        outputs=width(context.d_model),
        bias=node.bias.o,
        init=init.output_matrix(context, depth),
        bias_init=init.output_bias(context),
    )


def _scale(context: Context, node: schema.Attention, heads: _Heads, key: str) -> Scale:
    scale = node.scale
    match scale:
        case "inv_sqrt_head_dim":
            return InverseSqrt(heads.head_dim)
        case "one":
            return Unscaled()
        case schema.InverseSqrt(inv_sqrt=value):
            name = "attention_scale_width"
            return InverseSqrt(context.size(name, value, name, (key, "scale", "inv_sqrt")))
        case float():
            return Factor(context.constant("attention_scale", scale, (key, "scale")))
        case _:
            assert_never(scale)


def _qk_norm(
    context: Context, node: schema.Attention, layer: schema.Layer, heads: _Heads, key: str
) -> QkNorm | QkL2Norm | None:
    part = node.qk_norm
    path = (key, "qk_norm", "eps")
    match part:
        case None:
            return None
        case schema.L2QkNorm():
            # The scale stays what the spec says: a temperature usually goes with `scale: one`.
            return QkL2Norm(
                eps=context.constant("qk_norm_eps", part.eps, path),
                temperature=_temperature(part, heads),
            )
        case schema.RmsQkNorm():
            over = NormOver(part.over)
            full, apart = over is NormOver.FULL, over is NormOver.PER_HEAD
            if part.eps is None:
                eps = norms.layer_eps(context, layer.norm, path)
            else:
                eps = norms.role_eps(context, "qk", part.eps, path)
            q_width = heads.q_width if full else width(heads.head_dim)
            k_width = heads.kv_width if full else width(heads.head_dim)
            return QkNorm(
                over=over,
                after_turn=part.when == "after_rotary",
                q=norms.norm(part, "q_norm", q_width, eps, heads.n_heads if apart else None),
                k=norms.norm(part, "k_norm", k_width, eps, heads.n_kv_heads if apart else None),
            )
        case _:
            assert_never(part)


def _temperature(node: schema.L2QkNorm, heads: _Heads) -> Temperature | None:
    match node.temperature:
        case "none":
            return None
        case "per_head":
            return Temperature("log_scale", heads.n_heads, LogSqrt(heads.head_dim))
        case _:
            assert_never(node.temperature)


def _constant(
    context: Context, key: str, field: str, value: float | None, name: str | None = None
) -> Constant | None:
    return None if value is None else context.constant(name or field, value, (key, field))


def _reach(context: Context, node: schema.Attention) -> Reach | None:
    if node.window is not None:
        return Window(context.size("window", node.window, "window", ("attention", "window")))
    if node.chunk is not None:
        return Chunk(context.size("chunk", node.chunk, "chunk", ("attention", "chunk")))
    return None


def _temperature_by_position(
    context: Context, node: schema.Attention
) -> PositionTemperature | None:
    part = node.temperature
    if part is None:
        return None
    path = ("attention", "temperature")
    return PositionTemperature(
        context.constant("temperature_floor", part.floor, (*path, "floor")),
        context.constant("temperature_coefficient", part.coefficient, (*path, "coefficient")),
    )


def _gate(context: Context, node: schema.Attention, heads: _Heads) -> OutputGate | None:
    if node.gate == "none":
        return None
    matrix, bias = init.matrix(context), init.bias(context)
    linear = Linear("gate_proj", width(context.d_model), heads.q_width, node.bias.q, matrix, bias)
    return OutputGate(linear)
