"""Wrong inputs must be refused with a ValueError, not answered wrongly or obscurely."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from specc.golden import Inputs
from specc.ir.model import Kind
from specc.ir.positions import LearnedPosition, Rotary, Sinusoidal
from specc.ir.walk import walk
from specc.verify.calls import arguments, call
from specc.verify.checks.cache import call_with_cache
from specc.verify.checks.check import Check, counted
from specc.verify.checks.looks import MASKS
from specc.verify.checks.padding import padded_fields
from specc.verify.inputs import BATCH, LENGTH, changed, left_padded
from specc.verify.live import generating, new_cache
from specc.verify.report import Outcome, failed, passed
from specc.verify.subject import Subject

Call = Callable[[], object]


@dataclass(frozen=True)
class InputErrors(Check):
    """A mask of the wrong width or type and a sequence that is too long are ValueErrors."""

    name: str = "input_errors"

    def run(self, subject: Subject) -> Outcome:
        """Try every wrong call."""
        live = subject.build_stressed()
        told = []
        for what, attempt in _attempts(subject, live):
            fault = _fault(attempt)
            if fault is not None:
                return failed(f"{what}: {fault}")
            told.append(what)
        for field in padded_fields(subject.small.kind):
            self._try_longest(subject, live, field)
        return passed(f"{counted(len(told), 'wrong call')} refused: {'; '.join(told)}")

    def _try_longest(self, subject: Subject, live: nn.Module, field: str) -> None:
        """As many tokens as there are positions must be taken; raises if they are not."""
        limit = _length_limit(subject, field)
        if limit is None:
            return
        longest = _lengthened(subject.plain, field, limit)
        mask = torch.ones(BATCH, limit, dtype=torch.bool)
        with torch.no_grad():
            for given in (longest, {**longest, MASKS[field]: mask}):
                call(live, subject.small, changed(subject.plain, **given))


def _fault(attempt: Call) -> str | None:
    try:
        with torch.no_grad():
            attempt()
    except ValueError as error:
        return None if str(error) else "a ValueError without a message"
    except Exception as error:  # noqa: BLE001  # anything else is the fault that is looked for
        return f"{type(error).__name__} in place of a ValueError"
    return "accepted without an error"


def _attempts(subject: Subject, live: nn.Module) -> Iterator[tuple[str, Call]]:
    inputs, model = subject.plain, subject.small
    for field in padded_fields(model.kind):
        mask, value = MASKS[field], vars(inputs)[field]
        wide = torch.ones(BATCH, value.shape[1] + 1, dtype=torch.bool)
        number = torch.ones(BATCH, value.shape[1], dtype=torch.int64)
        for what, wrong in (("one too wide", wide), ("of integers", number)):
            given = changed(inputs, **{mask: wrong})
            yield f"{mask} {what}", partial(call, live, model, given)
        limit = _length_limit(subject, field)
        if limit is not None:
            given = changed(inputs, **_lengthened(inputs, field, limit + 1))
            yield f"{limit + 1} {field}", partial(call, live, model, given)
    if model.cache:
        small = new_cache(live, BATCH, LENGTH - 1)
        yield f"{LENGTH} tokens for a cache of {LENGTH - 1}", lambda: call_with_cache(
            live, model, inputs, small
        )
        other = new_cache(live, BATCH + 1, LENGTH)
        yield f"a batch of {BATCH} for a cache of {BATCH + 1}", lambda: call_with_cache(
            live, model, inputs, other
        )
    if model.generate:
        yield from _wrong_continuations(subject, live)


def _wrong_continuations(subject: Subject, live: nn.Module) -> Iterator[tuple[str, Call]]:
    """Calls of `generate` that nothing can come of."""
    model = subject.small
    given = arguments(model, left_padded(model))
    name = "target" if model.kind is Kind.ENCODER_DECODER else "tokens"
    limit = _length_limit(subject, name)
    right = given[f"{MASKS[name]}"].flip(1)
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("-1 new tokens", {"max_new_tokens": -1}),
        ("no token to follow", {name: given[name][:, :0], MASKS[name]: None}),
        ("padding on the right", {MASKS[name]: right}),
        ("a mask too wide", {MASKS[name]: torch.ones(BATCH, LENGTH + 1, dtype=torch.bool)}),
        ("temperature -1", {"temperature": -1.0}),
        ("top_k 0", {"temperature": 1.0, "top_k": 0}),
        ("top_p 0", {"temperature": 1.0, "top_p": 0.0}),
        ("top_p 1.5", {"temperature": 1.0, "top_p": 1.5}),
    ]
    if limit is not None:
        new = limit - LENGTH + 1
        wrong.append((f"{new} new tokens where {new - 1} have a place", {"max_new_tokens": new}))
    for what, changes in wrong:
        asked = {"max_new_tokens": 2, **given, **changes}
        yield f"generate: {what}", partial(generating(live).generate, **asked)


def _length_limit(subject: Subject, field: str) -> int | None:
    """How many tokens the stack that reads `field` has positions for; None: any number."""
    if subject.reads_features:
        return None
    stack = subject.small.stacks[-1 if field == "target" else 0]
    sizes = [
        p.size.value for p in walk(stack) if isinstance(p, Sinusoidal | LearnedPosition | Rotary)
    ]
    return min(sizes, default=None)


def _lengthened(inputs: Inputs, field: str, length: int) -> dict[str, Tensor]:
    names = [field, "token_types"] if field == "tokens" else [field]
    given = vars(inputs)
    return {name: given[name][:, :1].repeat(1, length) for name in names if given[name] is not None}
