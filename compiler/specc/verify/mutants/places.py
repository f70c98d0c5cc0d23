"""Mistakes with positions: tables at the input, turns and biases inside attention."""

from __future__ import annotations

from dataclasses import replace

from specc.ir.attention import Attention
from specc.ir.positions import (
    Alibi,
    LearnedPosition,
    PositionIndex,
    ProportionalScaling,
    Rotary,
    RotaryLayout,
    RotarySlice,
    Sinusoidal,
    SinusoidFrequency,
    SinusoidLayout,
)
from specc.verify.mutants.mutant import Mutant, choices, dropped, each, scaled, set_to


def without_position(kind: type[Rotary | Alibi]) -> Mutant:
    """Attention that does not know where tokens stand."""

    def change(part: Attention) -> Attention:
        return replace(part, position=None) if isinstance(part.position, kind) else part

    mutant = each("", Attention, change)
    return replace(mutant, name=f"{kind.__name__}: left out")


def counted(kind: type[Sinusoidal | LearnedPosition | Rotary]) -> tuple[Mutant, ...]:
    """Positions counted otherwise; nothing but a table that knows its padding id counts ids."""
    return tuple(
        set_to(kind, "index", index) for index in (PositionIndex.MASK, PositionIndex.ARANGE)
    )


def _other_end(part: Rotary) -> Rotary:
    """The last features of a head in place of the first, or the other way round."""
    if not part.is_partial:
        return part
    is_first = part.slice is RotarySlice.FIRST
    return replace(part, slice=RotarySlice.LAST if is_first else RotarySlice.FIRST)


def _as_proportional(part: Rotary) -> Rotary:
    """A fraction's pairs and exponents taken from the whole head."""
    plain = part.scaling is None and part.layout is RotaryLayout.HALF
    if not part.is_partial or not plain or part.slice is RotarySlice.LAST:
        return part
    return replace(part, scaling=ProportionalScaling())


def _whole_head(part: Rotary) -> Rotary:
    return replace(part, rotary_dim=part.head_dim)


SINUSOIDAL = (
    *choices(Sinusoidal, "layout", SinusoidLayout),
    *choices(Sinusoidal, "frequency", SinusoidFrequency),
    *counted(Sinusoidal),
)

LEARNED = (
    each("offset + 2", LearnedPosition, lambda part: replace(part, offset=part.offset + 2)),
    each("no offset", LearnedPosition, lambda part: replace(part, offset=0)),
    *counted(LearnedPosition),
)

ROTARY = (
    *choices(Rotary, "layout", RotaryLayout),
    scaled(Rotary, "theta", 10),
    dropped(Rotary, "scaling"),
    each("all of the head turns", Rotary, _whole_head),
    without_position(Rotary),
    *counted(Rotary),
    each("the other end of a head turns", Rotary, _other_end),
    each("proportional in place of a fraction", Rotary, _as_proportional),
)

ALIBI = (without_position(Alibi),)
