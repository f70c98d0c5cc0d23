"""Numbers that the generated file keeps in its `Config`, and widths made of them.

Every number of the IR that a reader may want to change is a `Size` or a `Constant`: it carries its
value
(golden computes with it) and its `Config` name (templates print it). Two parts that hold the same
name
share one `Config` field; lowering gives different names to numbers that differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Size:
    """An integer of `Config`, with the letter that stands for it in shape comments."""

    name: str
    value: int
    letter: str


@dataclass(frozen=True)
class Constant:
    """A float of `Config`: an eps, a theta, a probability."""

    name: str
    value: float


@dataclass(frozen=True)
class Vector:
    """A tuple of floats of `Config`: one factor for each pair of features, say."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class Width:
    """The length of one tensor axis: a sum of products of sizes, such as H*E + 2*K*E."""

    terms: tuple[tuple[Size | int, ...], ...]

    @property
    def value(self) -> int:
        return sum(prod(f.value if isinstance(f, Size) else f for f in t) for t in self.terms)

    @property
    def letters(self) -> str:
        """The width as shape comments write it: `H*E`, `H*E + 2*K*E`."""
        return " + ".join(
            "*".join(f.letter if isinstance(f, Size) else str(f) for f in t) for t in self.terms
        )

    @property
    def sizes(self) -> tuple[Size, ...]:
        """The sizes in it, each once, in order."""
        return tuple(dict.fromkeys(f for t in self.terms for f in t if isinstance(f, Size)))


def width(*factors: Size | int) -> Width:
    """One product: `width(n_heads, head_dim)` is H*E."""
    return Width((factors,))


Number = Size | Constant | Vector
