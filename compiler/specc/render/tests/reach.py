"""Whose outputs follow one place: how far a change travels through the layers of a stack."""

from __future__ import annotations

from specc.ir.block import Stack
from specc.ir.sight import dependencies


def followers(stack: Stack, place: int, length: int) -> tuple[int, int]:
    """Of `length` places the first whose output depends on `place`, and the one after the last.

    Those between depend on it too: near is what lies on one side, around it or in one chunk.
    """
    found = [i for i, reached in enumerate(dependencies(stack, length)) if place in reached]
    return found[0], found[-1] + 1


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
