"""How a published checkpoint names and stores its tensors, as data.

A layout is written once for a way of storing and used for every model that is stored so: an entry
applies where the model has what it speaks of. Names hold holes: `{layer}`, `{expert}` and `{head}`
are numbers, `{kind}` is `weight` or `bias`, `{any}` is anything.
"""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.layers import NormWeight
from specc.ir.positions import RotaryLayout
from specc.weights.steps import Arrangement


@dataclass(frozen=True)
class Entry:
    """One published tensor (or one for each expert or head) and what of ours it holds.

    Several paths of ours are several maps whose rows share the tensor, in `fused` order. A
    published tensor that is `transposed` has its inputs as rows.
    """

    theirs: str
    ours: tuple[str, ...]
    fused: Arrangement | None = None
    transposed: bool = False


@dataclass(frozen=True)
class Copy:
    """A published tensor that only repeats one of ours, and need not be there."""

    theirs: str
    ours: str


@dataclass(frozen=True)
class Dropped:
    """Published tensors that a model does not need, and why."""

    theirs: str
    because: str


@dataclass(frozen=True)
class Constant:
    """A parameter of ours that is never published: what it then is."""

    ours: str
    value: float


@dataclass(frozen=True)
class Spelling:
    """Names as some files write them: `old` in one is read as `new`."""

    old: str
    new: str


@dataclass(frozen=True)
class Layout:
    """All of one way of storing.

    `pairs` says which features of stored queries and keys turn together, and `gains` what stored
    gains of norms are, if that is more than a matter of the model's own spec. Files may or may not
    write one of `prefixes` before a name; a model without heads is published without `bare`.
    `offset` rows of a stored table of positions come before the first position.
    """

    name: str
    entries: tuple[Entry, ...]
    copies: tuple[Copy, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    constants: tuple[Constant, ...] = ()
    spellings: tuple[Spelling, ...] = ()
    pairs: RotaryLayout = RotaryLayout.HALF
    gains: NormWeight | None = None
    prefixes: tuple[str, ...] = ()
    bare: str = ""
    offset: int = 0
