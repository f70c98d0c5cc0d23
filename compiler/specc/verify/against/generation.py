"""Greedy decoding beside the library's own, token for token."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from specc.ir.model import Kind
from specc.verify.against.library import Question
from specc.verify.against.pair import Pair
from specc.verify.live import generating
from specc.verify.report import Outcome, failed, not_applicable, passed

PROMPT = 9  # tokens, of which some rows lack some
NEW = 12


def generation(pair: Pair, new: int = NEW) -> Outcome:
    """Rows padded left by several lengths continue as the library's `generate` has it."""
    if pair.model.kind is not Kind.DECODER or not pair.model.generate:
        return not_applicable("the spec has no generate")
    pair = replace(pair, room=PROMPT + new, varied=True)
    question = _prompt(pair.question("left"))
    wanted = pair.theirs(torch.float32, padded=True).generate(question, new)
    found = generating(pair.ours(torch.float32, padded=True)).generate(
        tokens=question.tokens, token_mask=question.real, max_new_tokens=new
    )
    rows = question.tokens.size(0)
    agreed = _agreed(found, wanted)
    if agreed < new:
        return failed(f"{rows} rows agree for {agreed} of {new} new tokens")
    kinds = len(set(wanted[:, -new:].flatten().tolist()))
    note = pair.dialect.padded_because
    return passed(
        f"{rows} rows, padded left, {new} new tokens of {kinds} kinds, all alike"
        + (f" ({note})" if note else "")
    )


def _prompt(question: Question) -> Question:
    real = None if question.real is None else question.real[:, :PROMPT]
    return Question(question.tokens[:, :PROMPT], real)


def _agreed(found: Tensor, wanted: Tensor) -> int:
    """How many steps all rows agree."""
    if found.shape != wanted.shape:
        return 0
    alike = (found == wanted).all(0)[PROMPT:]
    return int(alike.long().cumprod(0).sum())
