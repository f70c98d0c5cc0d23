"""What the lines of a stack are called in the method that holds them."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.positions import DynamicScaling, LongRopeScaling, Rotary


@dataclass(frozen=True)
class Names:
    """What the surrounding method calls the stack's tokens, their mask and the letter of their
    number.
    """

    tokens: str
    mask: str
    length: str


@dataclass(frozen=True)
class Tables:
    """How the model constructs the modules that know about places; keys are attribute names."""

    constructions: dict[str, str]
    sliced: bool  # whether unpadded tokens take a slice of them


@dataclass(frozen=True)
class RotaryLine:
    """The look-up of one rotary table."""

    rotary: str
    cos: str
    sin: str
    arguments: str


def follows_length(rotary: Rotary | None) -> bool:
    """Whether a table's frequencies depend on how long the call or the cache is."""
    return rotary is not None and isinstance(rotary.scaling, DynamicScaling | LongRopeScaling)


def variable(rotary: Rotary, word: str) -> str:
    """`cos` for the table `rotary`, `cos_local` for `rotary_local`."""
    return rotary.name.replace("rotary", word)
