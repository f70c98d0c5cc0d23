"""One forward pass as numbers: what every closed form of the work and the memory of a model takes.

Tokens are counted with their padding; a mask saves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.attention import Attention, AttentionSource, LatentAttention, kept_window
from specc.ir.block import Stack
from specc.ir.model import Kind, Model
from specc.ir.positions import LearnedPosition, Rotary, Sinusoidal
from specc.ir.walk import walk

USUAL_LENGTH = 2048


@dataclass(frozen=True)
class Call:
    """`batch` texts of `new` tokens each, behind `past` tokens that a cache holds.

    `source` is the length of what cross-attention reads. An encoder runs only if `encodes`: later
    steps of a decoding read the memory of the first.
    """

    batch: int
    new: int
    past: int = 0
    source: int = 0
    encodes: bool = True

    @property
    def tokens(self) -> int:
        """B*T: the new places of all texts."""
        return self.batch * self.new

    def keys(self, part: Attention | LatentAttention) -> int:
        """How many keys one query of this attention is multiplied with, looked at or not."""
        if isinstance(part, Attention) and part.source is AttentionSource.MEMORY:
            return self.source
        window = kept_window(part)
        past = self.past if window is None else min(self.past, window.value - 1)
        return past + self.new

    def projected(self, part: Attention) -> int:
        """How many places of all texts it makes keys and values of: a cache has a memory's."""
        if part.source is AttentionSource.SELF:
            return self.tokens
        return 0 if part.cached and self.past else self.batch * self.source

    def within(self, model: Model, stack: Stack) -> Call | None:
        """What this stack of the model does in the call; None: it does not run."""
        if model.kind is not Kind.ENCODER_DECODER or stack.name != "encoder":
            return self
        return Call(self.batch, self.source) if self.encodes else None


def whole(batch: int, length: int) -> Call:
    """Texts of one length, all tokens at once; a source or memory is as long."""
    return Call(batch, length, source=length)


def step(batch: int, length: int) -> Call:
    """The last token of texts of this length, all others in the cache."""
    return Call(batch, 1, past=length - 1, source=length, encodes=False)


def longest(model: Model) -> int | None:
    """The most tokens that the model has positions for; None: any number."""
    tables = (p for p in walk(model.stacks) if isinstance(p, Rotary | Sinusoidal | LearnedPosition))
    return min((table.size.value for table in tables), default=None)


def usual_length(model: Model) -> int:
    """The length that costs are told for when no other is asked for."""
    most = longest(model)
    return USUAL_LENGTH if most is None else min(most, USUAL_LENGTH)
