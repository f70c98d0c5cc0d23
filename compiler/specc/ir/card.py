"""What a model costs at one length, put together: parameters, work, cache, activations, weights.

Everything follows from the IR; nothing is measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.activations import Kept, activations
from specc.ir.calls import Call, step, whole
from specc.ir.flops import BACKWARD
from specc.ir.memory import cache_bytes, weight_bytes
from specc.ir.model import Model
from specc.ir.ownership import Role, Row, rows


@dataclass(frozen=True)
class Card:
    """The costs of one model for `batch` texts of `length` tokens.

    FLOPs are those of the whole batch: `forward` of all tokens at once, `training` forward and
    backward, `decode` of one more token a text when the others are in the cache (None: no cache).
    """

    model: Model
    batch: int
    length: int
    rows: tuple[Row, ...]
    forward: int
    training: int
    decode: int | None
    activations: Kept

    @property
    def parameters(self) -> int:
        """All of them, a shared or tied one once."""
        return sum(row.count * row.parameters for row in self.rows)

    @property
    def active(self) -> int:
        """Those that one token passes: of experts, the chosen ones."""
        return sum(row.count * row.active for row in self.rows)

    @property
    def embedding(self) -> int:
        """Those of the tables that the input is looked up in, and of its projection."""
        return self.of(Role.EMBEDDING)

    def of(self, role: Role) -> int:
        """The parameters of one kind."""
        return sum(row.count * row.parameters for row in self.rows if row.role is role)

    @property
    def tokens(self) -> int:
        return self.batch * self.length

    def weights(self, itemsize: int) -> int:
        """Bytes of the `state_dict`."""
        return weight_bytes(self.model, itemsize)

    def cache(self, itemsize: int) -> int:
        """Bytes of a cache that holds all tokens, and the memory of an encoder; 0 without one."""
        return cache_bytes(self.model, whole(self.batch, self.length), itemsize)


def card(model: Model, batch: int, length: int) -> Card:
    """The costs of the model. A source, or a memory of features, is as long as the text."""
    call = whole(batch, length)
    found = rows(model, call)
    forward = work(found)
    return Card(
        model=model,
        batch=batch,
        length=length,
        rows=found,
        forward=forward,
        training=(1 + BACKWARD) * forward,
        decode=work(rows(model, step(batch, length))) if model.cache else None,
        activations=activations(model, call),
    )


def work(found: tuple[Row, ...]) -> int:
    """The FLOPs of all modules."""
    return sum(row.count * row.flops for row in found)


def flops(model: Model, call: Call) -> int:
    """The FLOPs of one call."""
    return work(rows(model, call))
