"""What happens to tensors between a published checkpoint and a generated file, one operation each.

A list of operations covers every parameter of ours exactly once.
"""

from __future__ import annotations

from dataclasses import dataclass

from specc.weights.steps import Named, Step, inverses, loses


@dataclass(frozen=True)
class Move:
    """Published tensors become ours by these steps; without steps it is a new name."""

    theirs: tuple[Named, ...]
    ours: tuple[Named, ...]
    steps: tuple[Step, ...]

    @property
    def back(self) -> tuple[Step, ...]:
        """The steps from ours to theirs."""
        return inverses(self.steps)

    @property
    def loses(self) -> bool:
        """Whether the way there and back does not give the same bytes."""
        return any(loses(step) for step in self.steps)


@dataclass(frozen=True)
class Tie:
    """A published tensor that, if it is there, must repeat the published tensor `of`. It is not
    written: the model that reads it ties the two.
    """

    theirs: str
    of: str


@dataclass(frozen=True)
class Drop:
    """Published tensors of names like this one are left out on purpose."""

    pattern: str
    because: str


@dataclass(frozen=True)
class Fill:
    """A parameter of ours that is never published holds one value everywhere."""

    ours: Named
    value: float


Operation = Move | Tie | Drop | Fill
