"""The numbers of a test file: what the model gives at a small size. Whoever fills this has run it.

The formulas of weights and inputs stand in the test file; whoever fills this follows them.
"""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.layers import Norm
from specc.ir.walk import Value

Rows = tuple[tuple[float, ...], ...]

BATCH = 4
LENGTH = 9
MEMORY_LENGTH = 11
PADS = 3
CHANGED = 5  # the place that tests of looking change
STRIDE = 5  # from one token id to the next

# True = a real token. Padding left, right, on both sides with a hole, and nothing else.
MASK = ("000111111", "111111100", "011101110", "000000000")
MEMORY_MASK = ("00000000000", "01111011110", "11111111000", "00111111111")


@dataclass(frozen=True)
class ParameterFact:
    """One tensor of the state dict: the root mean square that it starts from, and the norm of the
    gradient of a fixed loss.
    """

    path: str
    shape: tuple[int, ...]
    start: float
    gradient: float


@dataclass(frozen=True)
class NormFact:
    """A norm, the level of what it is given, and a sum over what it makes of it."""

    path: str
    norm: Norm
    level: float
    total: float


@dataclass(frozen=True)
class Dropped:
    """A sum of each row when all modules whose path ends in `owner` drop everything."""

    owner: str
    attribute: str
    totals: tuple[float, ...]


@dataclass(frozen=True)
class Facts:
    """All numbers of one file."""

    sizes: tuple[tuple[str, Value], ...]  # of the small `Config`
    count: int  # parameters at full size
    parameters: tuple[ParameterFact, ...]
    plain: Rows
    padded: Rows
    norms: tuple[NormFact, ...]
    dropped: tuple[Dropped, ...]
    short: Rows | None = None  # where queries and keys have a length that is floored
    short_factor: float = 1.0  # what the weights behind them were multiplied by for that
