"""Whose change may reach whom: what the layers of a stack let each place look at, one after the
other.
"""

from __future__ import annotations

from specc.ir.attention import Attention, Chunk, LatentAttention, Window
from specc.ir.block import Stack
from specc.ir.exhaustive import assert_never
from specc.ir.views import self_attention


def dependencies(stack: Stack, length: int) -> list[frozenset[int]]:
    """For each of `length` places the places whose change may reach it, itself always one."""
    found = [frozenset([place]) for place in range(length)]
    for layer in stack.layers:
        attention = self_attention(layer.block)
        if attention is not None:
            found = [
                frozenset().union(*(found[j] for j in range(length) if _sees(attention, i, j)))
                for i in range(length)
            ]
    return found


def _sees(attention: Attention | LatentAttention, query: int, key: int) -> bool:
    """Whether a layer's query may look at that key, itself always one."""
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
