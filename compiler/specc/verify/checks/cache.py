"""A cache must change nothing but the time: chunk by chunk equals all at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from specc.golden import Inputs
from specc.ir.heads import ClassifierHead
from specc.ir.model import Kind, Model
from specc.ir.positions import DynamicScaling, LongRopeScaling
from specc.ir.walk import walk
from specc.verify.calls import Outputs, arguments, named
from specc.verify.checks.check import Check
from specc.verify.inputs import LENGTH, left_padded, rows_of
from specc.verify.live import Cache, new_cache, translating
from specc.verify.metrics import margin, worst_error
from specc.verify.report import Outcome, failed, not_applicable, passed
from specc.verify.subject import Subject

LIMITS = {torch.float64: 1e-12, torch.float32: 1e-5}
CHUNKS: dict[str, tuple[int, ...]] = {
    "one by one": (1,) * LENGTH,
    "in chunks 4, 1, 3, 1": (4, 1, 3, 1),
    "all in one chunk": (LENGTH,),
}


@dataclass(frozen=True)
class CacheEqualsFull(Check):
    """Decoding with the cache gives what one full pass gives, padded or not."""

    name: str = "cache"

    def run(self, subject: Subject) -> Outcome:
        """Compare with one full pass, cut in several ways."""
        if not subject.model.cache:
            return not_applicable("the spec has no cache")
        worst = dict.fromkeys(LIMITS, 0.0)
        for dtype, limit in LIMITS.items():
            live = subject.build_stressed(dtype)
            for what, error, output in _errors(subject, live):
                if error > limit:
                    return failed(
                        f"{output} {what}, is off by {error:.1e} (limit {limit:.0e})",
                        margin(error, limit),
                    )
                worst[dtype] = max(worst[dtype], error)
        told = (f"{worst[dtype]:.1e} (limit {limit:.0e})" for dtype, limit in LIMITS.items())
        return passed(
            f"max relative error {' and in float32 '.join(told)}, {len(CHUNKS)} ways to cut"
            f" {LENGTH} tokens, with padding left and elsewhere and without"
        )


def _errors(subject: Subject, live: nn.Module) -> Iterator[tuple[str, float, str]]:
    """How tokens are cut and padded, how far that lies from a full pass, and in which output."""
    for label, inputs in (
        ("no padding", subject.plain),
        ("padded", subject.padded),
        ("padded left", left_padded(subject.small)),
        ("one row alone", rows_of(subject.plain, [0])),
    ):
        wanted = _by_place(subject.small, subject.outputs(live, inputs))
        for how, sizes in CHUNKS.items():
            with torch.no_grad():
                found = chunked(live, subject.small, inputs, sizes)
            error, output = worst_error(found, wanted)
            yield f"{how}, {label}", error, output


def _by_place(model: Model, outputs: Outputs) -> Outputs:
    """Outputs that stand at places, so that chunks of them can be joined."""
    pooled = {h.output_name for h in model.heads if isinstance(h, ClassifierHead)}
    return {
        n: t
        for n, t in outputs.items()
        if n not in pooled and not n.startswith("attention_weights")
    }


def chunked(live: nn.Module, model: Model, inputs: Inputs, sizes: tuple[int, ...]) -> Outputs:
    """The outputs of several calls that share a cache, joined along the places."""
    given = inputs.target if inputs.tokens is None else inputs.tokens
    cache = new_cache(live, needed(given).size(0), room(model))
    calls = _translated if model.kind is Kind.ENCODER_DECODER else _calls
    pieces = [_by_place(model, o) for o in calls(live, model, inputs, sizes, cache)]
    if cache.length != LENGTH:
        raise ValueError(f"cache.length is {cache.length} after {LENGTH} tokens")
    return {name: torch.cat([piece[name] for piece in pieces], dim=1) for name in pieces[0]}


def room(model: Model) -> int:
    """A capacity for LENGTH tokens; just that where turns follow it, so that a full pass agrees."""
    follows = any(isinstance(p, DynamicScaling | LongRopeScaling) for p in walk(model.stacks))
    return LENGTH if follows else LENGTH + 3


def _calls(
    live: nn.Module, model: Model, inputs: Inputs, sizes: tuple[int, ...], cache: Cache
) -> Iterator[Outputs]:
    for part in cuts(inputs, sizes):
        yield named(model, live(part.tokens, part.token_mask, cache))


def _translated(
    live: nn.Module, model: Model, inputs: Inputs, sizes: tuple[int, ...], cache: Cache
) -> Iterator[Outputs]:
    both = translating(live)
    memory = both.encode(needed(inputs.source), inputs.source_mask)
    for part in cuts(inputs, sizes):
        target = needed(part.target)
        returned = both.decode(target, memory, part.source_mask, part.target_mask, cache)
        yield named(model, returned)


def needed(value: Tensor | None) -> Tensor:
    """The tensor; ValueError if the inputs lack it."""
    if value is None:
        raise ValueError("an input is missing")
    return value


def cuts(inputs: Inputs, sizes: tuple[int, ...]) -> Iterator[Inputs]:
    """The inputs piece by piece, each with the mask of all tokens so far."""
    start = 0
    for size in sizes:
        yield cut(inputs, start, start + size)
        start += size


def cut(inputs: Inputs, start: int, end: int) -> Inputs:
    """Tokens start..end with the mask of all tokens so far."""

    def tokens(value: Tensor | None) -> Tensor | None:
        return None if value is None else value[:, start:end]

    def mask(value: Tensor | None) -> Tensor | None:
        return None if value is None else value[:, :end]

    return replace(
        inputs,
        tokens=tokens(inputs.tokens),
        target=tokens(inputs.target),
        token_mask=mask(inputs.token_mask),
        target_mask=mask(inputs.target_mask),
    )


def call_with_cache(live: nn.Module, model: Model, inputs: Inputs, cache: Cache) -> Outputs:
    """One forward with a cache, an encoder-decoder from its source on."""
    return named(model, live(**arguments(model, inputs), cache=cache))
