"""How many ids the inputs of a test file are drawn from."""

from __future__ import annotations

from specc.ir.block import TokenInput
from specc.ir.heads import LanguageModelHead
from specc.ir.model import Model
from specc.ir.sizes import Size


def known_ids(model: Model, stack: int) -> Size | None:
    """The ids that a stack reads and a head predicts: rows that pad a matrix are none of them.

    None where the stack reads features.
    """
    part = model.stacks[stack].input
    if not isinstance(part, TokenInput):
        return None
    heads = [head for head in model.heads if isinstance(head, LanguageModelHead)]
    cut = [head.vocab_size for head in heads if head.vocab_size is not None]
    return min([part.embedding.rows, *cut], key=lambda size: size.value)
