"""Mistakes with rotary frequencies scaled for longer texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from specc.ir.model import Model
from specc.ir.positions import (
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    LongRopeScaling,
    ProportionalScaling,
    Rotary,
    RotaryScaling,
    YarnScaling,
)
from specc.ir.sizes import Constant
from specc.ir.walk import walk
from specc.verify.mutants.mutant import Mutant, each, flipped, scaled


def _other(
    kind: type[RotaryScaling], name: str, change: Callable[[RotaryScaling], RotaryScaling | None]
) -> Mutant:
    """Turns whose scaling is of one kind, scaled otherwise."""

    def edit(part: Rotary) -> Rotary:
        if not isinstance(part.scaling, kind) or part.scaling is None:
            return part
        return replace(part, scaling=change(part.scaling))

    return replace(each("", Rotary, edit), name=f"{kind.__name__}: {name}")


def _linear(kind: type[Llama3Scaling | DynamicScaling | YarnScaling]) -> Mutant:
    """All frequencies divided by the factor."""

    def change(part: RotaryScaling) -> RotaryScaling:
        if isinstance(part, Llama3Scaling | DynamicScaling | YarnScaling):
            return LinearScaling(part.factor)
        return part

    return _other(kind, "linear", change)


def _ungained(kind: type[YarnScaling | LongRopeScaling]) -> Mutant:
    """cos and sin as they are."""

    def change(part: YarnScaling | LongRopeScaling) -> object:
        return replace(part, attention_factor=Constant(part.attention_factor.name, 1.0))

    return each("no factor for cos and sin", kind, change)


def _betas(part: YarnScaling) -> YarnScaling:
    return replace(part, beta_fast=part.beta_slow, beta_slow=part.beta_fast)


def _other_factors(part: LongRopeScaling) -> LongRopeScaling:
    return replace(part, short_factors=part.long_factors, long_factors=part.short_factors)


def same_factors(model: Model) -> str | None:
    """Why it cannot matter which factors a longrope takes."""
    parts = [part for part in walk(model.stacks) if isinstance(part, LongRopeScaling)]
    if all(part.short_factors.values == part.long_factors.values for part in parts):
        return "the factors for short and long texts are the same numbers"
    return None


SCALINGS: dict[str, tuple[Mutant, ...]] = {
    "LinearScaling": (scaled(LinearScaling, "factor", 2),),
    "Llama3Scaling": (
        scaled(Llama3Scaling, "factor", 2),
        scaled(Llama3Scaling, "low_freq_factor", 1.5),
        scaled(Llama3Scaling, "high_freq_factor", 1.5),
        _linear(Llama3Scaling),
    ),
    "DynamicScaling": (
        scaled(DynamicScaling, "factor", 2),
        _linear(DynamicScaling),
    ),
    "YarnScaling": (
        scaled(YarnScaling, "factor", 2),
        _ungained(YarnScaling),
        each("betas exchanged", YarnScaling, _betas),
        flipped(YarnScaling, "truncate"),
        _linear(YarnScaling),
    ),
    "LongRopeScaling": (
        _ungained(LongRopeScaling),
        each("short and long exchanged", LongRopeScaling, _other_factors, same_factors),
    ),
    "ProportionalScaling": (
        _other(ProportionalScaling, "a fraction in its place", lambda _: None),
    ),
}
