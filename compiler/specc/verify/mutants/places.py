"""Mistakes with positions: tables at the input, turns and biases inside attention."""

from __future__ import annotations

from dataclasses import replace

from specc.ir.attention import Attention
from specc.ir.positions import (
    Alibi,
    LearnedPosition,
    LinearScaling,
    Llama3Scaling,
    PositionIndex,
    Rotary,
    RotaryLayout,
    Sinusoidal,
    SinusoidFrequency,
    SinusoidLayout,
)
from specc.verify.mutants.mutant import Mutant, choices, dropped, each, scaled


def without_position(kind: type[Rotary | Alibi]) -> Mutant:
    """Attention that does not know where tokens stand."""

    def change(part: Attention) -> Attention:
        return replace(part, position=None) if isinstance(part.position, kind) else part

    mutant = each("", Attention, change)
    return replace(mutant, name=f"{kind.__name__}: left out")


def _whole_head(part: Rotary) -> Rotary:
    return replace(part, rotary_dim=part.head_dim)


def _as_linear(part: Rotary) -> Rotary:
    if not isinstance(part.scaling, Llama3Scaling):
        return part
    return replace(part, scaling=LinearScaling(part.scaling.factor))


SINUSOIDAL = (
    *choices(Sinusoidal, "layout", SinusoidLayout),
    *choices(Sinusoidal, "frequency", SinusoidFrequency),
    *choices(Sinusoidal, "index", PositionIndex),
)

LEARNED = (
    each("offset + 2", LearnedPosition, lambda part: replace(part, offset=part.offset + 2)),
    each("no offset", LearnedPosition, lambda part: replace(part, offset=0)),
    *choices(LearnedPosition, "index", PositionIndex),
)

ROTARY = (
    *choices(Rotary, "layout", RotaryLayout),
    scaled(Rotary, "theta", 10),
    dropped(Rotary, "scaling"),
    each("all of the head turns", Rotary, _whole_head),
    without_position(Rotary),
    *choices(Rotary, "index", PositionIndex),
)

SCALINGS: dict[str, tuple[Mutant, ...]] = {
    "LinearScaling": (scaled(LinearScaling, "factor", 2),),
    "Llama3Scaling": (
        scaled(Llama3Scaling, "factor", 2),
        scaled(Llama3Scaling, "low_freq_factor", 1.5),
        scaled(Llama3Scaling, "high_freq_factor", 1.5),
        replace(each("linear in its place", Rotary, _as_linear), name="Llama3Scaling: linear"),
    ),
}

ALIBI = (without_position(Alibi),)
