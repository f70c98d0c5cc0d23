"""What a kind of layer must know of the tokens' places, once per forward: layers that need the same
share it.
"""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.attention import Attention, AttentionSource, LatentAttention, Reach
from specc.ir.block import Block, LayerType, Stack
from specc.ir.positions import Alibi, Rotary


@dataclass(frozen=True)
class View:
    """A mask with the tables that go with it."""

    causal: bool
    reach: Reach | None
    rotary: Rotary | None
    alibi: Alibi | None


def self_attention(block: Block) -> Attention | LatentAttention | None:
    """The block's attention over its own tokens, if it has one."""
    for sublayer in block.sublayers:
        body = sublayer.body
        if isinstance(body, LatentAttention):
            return body
        if isinstance(body, Attention) and body.source is AttentionSource.SELF:
            return body
    return None


def _needs(layer: LayerType) -> View | None:
    attention = self_attention(layer.block)
    if attention is None:
        return None
    position = attention.position
    return View(
        attention.causal,
        attention.reach,
        position if isinstance(position, Rotary) else None,
        position if isinstance(position, Alibi) else None,
    )


def views(stack: Stack) -> tuple[View, ...]:
    """The distinct views of a stack. A layer without positions looks through one with rotary tables
    if it can.
    """
    needs = dict.fromkeys(_needs(layer) for layer in stack.layer_types)
    wanted = [need for need in needs if need is not None]
    return tuple(
        need
        for need in wanted
        if need.rotary is not None
        or not any(o.rotary is not None and _serves(o, need) for o in wanted)
    )


def view_of(stack: Stack, layer: LayerType) -> int | None:
    """The index into `views(stack)` of the one that this kind of layer looks through."""
    need = _needs(layer)
    if need is None:
        return None
    found = views(stack)
    if need in found:
        return found.index(need)
    return next(i for i, view in enumerate(found) if _serves(view, need))


def _serves(view: View, need: View) -> bool:
    same = (view.causal, view.reach, view.alibi) == (need.causal, need.reach, need.alibi)
    return same and need.rotary in (None, view.rotary)
