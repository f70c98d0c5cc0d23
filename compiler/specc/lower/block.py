"""A block's sublayers and which of their norm slots are filled."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.attention import Attention, LatentAttention
from specc.ir.block import Block, LayerScale, Residual, Sublayer, Wiring
from specc.ir.feed_forward import FeedForward
from specc.ir.init import Fill
from specc.ir.layers import Norm
from specc.ir.sizes import Constant, Size, width
from specc.lower import attention, norms
from specc.lower.context import Context
from specc.lower.feed_forward import feed_forward
from specc.lower.latent import latent_attention
from specc.spec import schema

Body = Attention | LatentAttention | FeedForward


@dataclass(frozen=True)
class _Slots:
    """Which slots of x <- out(x + post(body(pre(x)))) hold a norm."""

    pre: bool
    post: bool
    out: bool


_PLACEMENTS = {
    "pre": _Slots(pre=True, post=False, out=False),
    "post": _Slots(pre=False, post=False, out=True),
    "sandwich": _Slots(pre=True, post=True, out=False),
    "post_sublayer": _Slots(pre=False, post=True, out=False),
}


_NO_SLOTS = _Slots(pre=False, post=False, out=False)


def block(context: Context, layer: schema.Layer, depth: Size) -> Block:
    """The block of one layer type; `depth` is the stack's number of layers."""
    sublayers = tuple(
        _sublayer(context, layer, name, _body(context, layer, name, depth))
        for name in layer.block.sublayers
    )
    return Block(Wiring(layer.block.wiring), sublayers)


def _body(
    context: Context, layer: schema.Layer, name: str, depth: Size
) -> Attention | LatentAttention | FeedForward:
    if name == "attention" and layer.attention is not None:
        if isinstance(layer.attention, schema.LatentAttention):
            return latent_attention(context, layer.attention, layer, depth)
        return attention.self_attention(context, layer.attention, layer, depth)
    if name == "cross_attention" and isinstance(layer.cross_attention, schema.Attention):
        return attention.cross_attention(context, layer.cross_attention, layer, depth)
    if name == "feed_forward" and layer.feed_forward is not None:
        return feed_forward(context, layer.feed_forward, depth)
    raise ValueError(f"the rules let a block without {name} through")


def _sublayer(
    context: Context,
    layer: schema.Layer,
    name: str,
    body: Attention | LatentAttention | FeedForward,
) -> Sublayer:
    skipped = name in layer.block.skip_norms
    slots = _NO_SLOTS if skipped else _PLACEMENTS[layer.block.norm_placement]
    eps = norms.layer_eps(context, layer.norm)

    def slot(filled: bool, attribute: str) -> Norm | None:
        return norms.norm(layer.norm, attribute, width(context.d_model), eps) if filled else None

    return Sublayer(
        name=name,
        body=body,
        pre=slot(slots.pre, "norm" if layer.block.shared_norm else f"{name}_norm"),
        post=slot(slots.post, f"{name}_post_norm" if slots.pre else f"{name}_norm"),
        out=slot(slots.out, f"{name}_norm"),
        residual=Residual(layer.block.residual),
        multiplier=_multiplier(context, layer.block),
        layer_scale=_layer_scale(context, layer.block, name),
    )


def _multiplier(context: Context, node: schema.Block) -> Constant | None:
    if node.residual_multiplier is None:
        return None
    path = ("block", "residual_multiplier")
    return context.constant("residual_multiplier", node.residual_multiplier, path)


def _layer_scale(context: Context, node: schema.Block, name: str) -> LayerScale | None:
    if node.layer_scale is None:
        return None
    return LayerScale(f"{name}_scale", width(context.d_model), Fill(node.layer_scale))
