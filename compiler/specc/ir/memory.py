"""Bytes that a model needs: its weights, its cache of keys and values, and what a training step
keeps.

Everything is in one dtype of `itemsize` bytes, but for what the file keeps in float32.
"""

from __future__ import annotations

from specc.ir.attention import Attention, AttentionSource, LatentAttention, kept_window
from specc.ir.calls import Call
from specc.ir.feed_forward import FeedForward
from specc.ir.model import Model
from specc.ir.parameters import parameters

DTYPES = {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8}


def weight_bytes(model: Model, itemsize: int) -> int:
    """The `state_dict`: parameters and the buffers that are saved with them."""
    return itemsize * sum(parameter.count for parameter in parameters(model))


def cache_bytes(model: Model, call: Call, itemsize: int) -> int:
    """The keys and values of all layers once the call is over, in room for its tokens alone."""
    if not model.cache:
        return 0
    bodies = (part.body for layer in model.stacks[-1].layers for part in layer.block.sublayers)
    return itemsize * sum(_kept(body, call) for body in bodies)


def _kept(part: Attention | LatentAttention | FeedForward, call: Call) -> int:
    """The numbers that one layer's part leaves in the cache."""
    match part:
        case Attention(cached=True):
            heads = part.n_kv_heads.value * part.head_dim.value
            return 2 * heads * call.batch * _room(part, call)
        case LatentAttention(cached=True):
            return (part.kv_rank.value + part.rotary_dim.value) * call.batch * _room(part, call)
        case _:
            return 0


def _room(part: Attention | LatentAttention, call: Call) -> int:
    """The tokens or memory places that it keeps of one text."""
    if isinstance(part, Attention) and part.source is AttentionSource.MEMORY:
        return call.source
    tokens, window = call.past + call.new, kept_window(part)
    return tokens if window is None else min(tokens, window.value - 1)
