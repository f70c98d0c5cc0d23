"""Sizes that follow from others when a spec leaves them out. Rules and builders read them here."""

from __future__ import annotations

from specc.spec import schema


def n_kv_heads(attention: schema.Attention) -> int:
    """As many key/value heads as query heads, unless said."""
    return attention.n_heads if attention.n_kv_heads is None else attention.n_kv_heads


def head_dim(attention: schema.Attention, d_model: int) -> int:
    """d_model split over the heads, unless said. Rules refuse what does not divide."""
    return d_model // attention.n_heads if attention.head_dim is None else attention.head_dim


def rotary_dim(position: schema.Rope, head_width: int) -> int:
    """How many of a head's features turn."""
    return int(head_width * position.fraction)


def turned_head_dim(attention: schema.AnyAttention, d_model: int) -> int:
    """The features of a head among which rotary positions choose."""
    if isinstance(attention, schema.LatentAttention):
        return attention.rope_head_dim
    return head_dim(attention, d_model)
