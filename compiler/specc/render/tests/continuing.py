"""What the tests of continued texts say of a model: whose tokens, in what room, given what."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.heads import LanguageModelHead
from specc.ir.model import Kind, Model
from specc.ir.positions import DynamicScaling, LongRopeScaling
from specc.ir.walk import walk
from specc.render.tests.facts import LENGTH

NEW = 5
ROOM = 12  # more than LENGTH


@dataclass(frozen=True)
class Continuing:
    """The texts of one model. `is_tuple`: its forward gives an `Output`."""

    model: Model
    is_tuple: bool

    @property
    def is_translating(self) -> bool:
        """Whether a source stands beside the text."""
        return self.model.kind is Kind.ENCODER_DECODER

    @property
    def text(self) -> str:
        """The tokens that are continued."""
        return "TARGET" if self.is_translating else "TOKENS"

    @property
    def given(self) -> str:
        """What `generate` is given."""
        return self.asking(NEW)

    def asking(self, new: int) -> str:
        """What it is given for so many tokens."""
        source, mask = ("SOURCE, ", "SOURCE_MASK, ") if self.is_translating else ("", "")
        return f"{source}{self.text}, {new}, {mask}mask"

    @property
    def first_row(self) -> str:
        """What it is given for the first row alone, which has no padding on the left."""
        rows = ("SOURCE", "TARGET", "SOURCE_MASK") if self.is_translating else (self.text,)
        first = [f"{name}[:1]" for name in rows]
        return ", ".join([*first[:2], str(NEW), *first[2:]])

    @property
    def whole(self) -> str:
        """What a whole pass is given: where frequencies follow a cache's room, the same room."""
        parts = walk(self.model.stacks)
        follows = any(isinstance(p, DynamicScaling | LongRopeScaling) for p in parts)
        room = f", model.new_cache(4, {LENGTH + NEW})" if follows else ""
        source, mask = ("SOURCE, ", "SOURCE_MASK, ") if self.is_translating else ("", "")
        return f"{source}text, {mask}seen{room}"

    @property
    def logits(self) -> str:
        """How to get at what the next token is chosen by."""
        heads = (h for h in self.model.heads if isinstance(h, LanguageModelHead))
        return f".{next(heads).output_name}" if self.is_tuple else ""


def grows(model: Model) -> bool:
    """Whether frequencies grow with the columns of a call, padding counted, or a cache's room."""
    return any(isinstance(part, DynamicScaling) for part in walk(model.stacks))
