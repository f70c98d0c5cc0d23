"""Whose outputs follow one place: how far a change travels through the layers of a stack."""

from __future__ import annotations

from specc.ir.attention import Attention, Chunk, LatentAttention, Window
from specc.ir.block import Stack
from specc.ir.exhaustive import assert_never
from specc.ir.views import self_attention


def followers(stack: Stack, place: int, length: int) -> tuple[int, int]:
    """Of `length` places the first whose output depends on `place`, and the one after the last.

    Those between depend on it too: near is what lies on one side, around it or in one chunk.
    """
    found = {place}
    for layer in stack.layers:
        attention = self_attention(layer.block)
        if attention is not None:
            found |= {i for i in range(length) if any(_sees(attention, i, j) for j in found)}
    return min(found), max(found) + 1


def _sees(attention: Attention | LatentAttention, query: int, key: int) -> bool:
    """Whether a layer's query may look at that key."""
    before = query - key
    if attention.causal and before < 0:
        return False
    match attention.reach:
        case None:
            return True
        case Window(size):
            return before < size.value if attention.causal else abs(before) <= size.value
        case Chunk(size):
            return query // size.value == key // size.value
        case _:
            assert_never(attention.reach)


def told(span: tuple[int, int], length: int) -> list[str]:
    """Assertions about `gap`, [B, length, ...]: what the places of the span follow, and others do
    not.
    """
    first, after = span
    before = [f"assert gap[:, :{first}].abs().max() < 1e-12"] if first else []
    behind = [f"assert gap[:, {after}:].abs().max() < 1e-12"] if after < length else []
    inside = f"{first or ''}:{after if behind else ''}"
    seen = "gap" if inside == ":" else f"gap[:, {inside}]"
    return [*before, f"assert {seen}.abs().amax(-1).min() > 1e-9", *behind]
