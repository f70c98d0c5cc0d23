"""What is compared between our model and the library's, and how far they may lie apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from specc.golden import Inputs
from specc.ir.model import Kind
from specc.ir.positions import DynamicScaling, LongRopeScaling
from specc.ir.walk import walk
from specc.verify.against.canary import canary
from specc.verify.against.generation import generation
from specc.verify.against.library import Question, Theirs
from specc.verify.against.pair import Pair
from specc.verify.calls import Outputs, arguments, named
from specc.verify.live import new_cache
from specc.verify.metrics import margin, relative_error
from specc.verify.report import Outcome, failed, not_applicable, passed

LIMIT = 1e-5
FIRST = 5  # tokens of the first call with a cache


@dataclass(frozen=True)
class Comparison:
    """One of them; `proves` says what a pass means."""

    name: str
    proves: str
    run: Callable[[Pair], Outcome]


def _judged(error: float, what: str) -> Outcome:
    text = f"{what}: relative error {error:.1e} (limit {LIMIT:.0e})"
    ratio = margin(error, LIMIT)
    return passed_by(text, ratio) if error <= LIMIT else failed(text, ratio)


def passed_by(text: str, ratio: float | None) -> Outcome:
    """A pass that says how close it was."""
    return Outcome(passed("").status, text, ratio)


def _named(pair: Pair, found: tuple[Tensor, ...]) -> Outputs:
    """Their outputs under our names: both have them in one order."""
    return dict(zip([head.output_name for head in pair.model.heads], found, strict=False))


def _error(ours: Outputs, theirs: Outputs, question: Question) -> float:
    """The largest over all outputs, at real tokens."""
    real = question.real
    worst = 0.0
    for name, wanted in theirs.items():
        found = ours[name]
        if real is not None and wanted.dim() == 3:
            found, wanted = found[real], wanted[real]
        elif real is not None and not bool(real[:, 0].all()):
            continue  # a class is read off the first column: only padding on the right is meant
        worst = max(worst, relative_error(found, wanted))
    return worst


def _apart(pair: Pair, dtype: torch.dtype, question: Question, *, padded: bool = False) -> float:
    theirs = pair.theirs(dtype, padded=padded).outputs(question)
    ours = pair.answer(pair.ours(dtype, padded=padded), question)
    return _error(ours, _named(pair, theirs), question)


def _logits(pair: Pair) -> Outcome:
    question = pair.question()
    error = _apart(pair, torch.float32, question)
    rows, length = question.tokens.shape
    because = f" ({pair.dialect.because})" if pair.dialect.because else ""
    oracle = f"{pair.dialect.attention} attention{because}"
    return _judged(error, f"float32, {rows} x {length} tokens, against {oracle}")


def _padded(pair: Pair) -> Outcome:
    errors = [
        _apart(pair, torch.float32, pair.question(side), padded=True) for side in ("left", "right")
    ]
    note = pair.dialect.padded_because
    return _judged(max(errors), "float32, padding left and right" + (f" ({note})" if note else ""))


def _cached(pair: Pair) -> Outcome:
    if pair.model.kind is not Kind.DECODER or not pair.model.cache:
        return not_applicable("the spec has no cache")
    if any(isinstance(part, DynamicScaling) for part in walk(pair.small.stacks)):
        return not_applicable("the library's frequencies follow the call, ours the cache's room")
    worst, first = 0.0, _first(pair)
    for side in ("", "left"):
        question = pair.question(side)
        theirs = pair.theirs(torch.float32, padded=bool(side))
        ours = pair.ours(torch.float32, padded=bool(side))
        cuts = range(first, question.tokens.size(1) + 1)
        wanted = torch.cat(list(_their_steps(theirs, question, cuts)), 1)
        found = torch.cat(list(_our_steps(pair, ours, question, cuts)), 1)
        real = torch.ones_like(question.tokens, dtype=torch.bool)
        real = real if question.real is None else question.real
        worst = max(worst, relative_error(found[real], wanted[real]))
    return _judged(worst, f"float32, {first} tokens and then one by one, padded left too")


def _first(pair: Pair) -> int:
    """Tokens of the first call: beyond the length from which the library takes long factors, as
    a cache with room for all tokens does.
    """
    parts = [part for part in walk(pair.small.stacks) if isinstance(part, LongRopeScaling)]
    return max([FIRST, *(part.original_max_seq_len.value + 1 for part in parts)])


def _beginning(question: Question, end: int) -> Question:
    real = None if question.real is None else question.real[:, :end]
    return Question(question.tokens[:, :end], real)


def _their_steps(theirs: Theirs, question: Question, cuts: range) -> Iterator[Tensor]:
    room = theirs.new_cache()
    for end in cuts:
        yield theirs.outputs(_beginning(question, end), room)[0]


def _our_steps(pair: Pair, live: nn.Module, question: Question, cuts: range) -> Iterator[Tensor]:
    rows, length = question.tokens.shape
    room = new_cache(live, rows, length)
    start = 0
    for end in cuts:
        part = _beginning(question, end)
        inputs = Inputs(tokens=part.tokens[:, start:], token_mask=part.real)
        with torch.no_grad():
            returned = live(**arguments(pair.small, inputs), cache=room)
        yield named(pair.small, returned)[pair.model.heads[0].output_name]
        start = end


def _layers(pair: Pair) -> Outcome:
    question = pair.question()
    theirs, live = pair.theirs(torch.float32), pair.ours(torch.float32)
    stack = pair.small.stacks[-1]
    prefix = next(
        entry.theirs.partition("{layer}")[0] + "{layer}"
        for entry in pair.layout.entries
        if "{layer}" in entry.theirs
    ).removeprefix("" if theirs.layers("bert.encoder.layer.{layer}") else pair.layout.bare)
    wanted = _watched(theirs.layers(prefix), lambda: theirs.outputs(question))
    own = [live.get_submodule(f"{stack.layers_name}.{i}") for i in range(len(stack.layers))]
    found = _watched(own, lambda: pair.answer(live, question))
    if len(wanted) != len(found):
        return failed(f"the library has {len(wanted)} layers {prefix}, we have {len(found)}")
    errors = [relative_error(a, b) for a, b in zip(found, wanted, strict=True)]
    worst = max(range(len(errors)), key=lambda i: errors[i])
    return _judged(errors[worst], f"float32, layer by layer, worst in layer {worst}")


def _watched(modules: list[nn.Module], run: Callable[[], object]) -> list[Tensor]:
    """What each module returns in that run, the first of several things."""
    seen: dict[int, Tensor] = {}

    def keep(index: int, out: object) -> None:
        first = out[0] if isinstance(out, tuple) else out
        if isinstance(first, Tensor):
            seen[index] = first

    hooks = [
        module.register_forward_hook(lambda _, __, out, i=i: keep(i, out))
        for i, module in enumerate(modules)
    ]
    try:
        run()
    finally:
        for hook in hooks:
            hook.remove()
    return [seen[i] for i in sorted(seen)]


def _float64(pair: Pair) -> Outcome:
    error = _apart(pair, torch.float64, pair.question())
    islands = "" if error < 1e-10 else ", of parts that the library computes in float32"
    return _judged(error, f"float64{islands}")


def _bfloat16(pair: Pair) -> Outcome:
    question = pair.question()
    exact = _named(pair, pair.theirs(torch.float32).outputs(question))
    theirs = _named(pair, pair.theirs(torch.bfloat16).outputs(question))
    ours = pair.answer(pair.ours(torch.bfloat16), question)
    apart = _error(ours, theirs, question)
    own = _error(theirs, exact, question)
    return passed(
        f"reported, not judged: bfloat16 {apart:.1e} apart; the library's own lies {own:.1e} from"
        " its float32"
    )


def _round_trip(pair: Pair) -> Outcome:
    given, back = pair.sent.tensors, pair.published
    other = [name for name, tensor in given.items() if not _same(back.get(name), tensor)]
    ours = [n for n, tensor in pair.weights.items() if not _same(pair.received.tensors[n], tensor)]
    if other or ours:
        return failed(f"{len(other) + len(ours)} tensors change: {', '.join([*other, *ours][:4])}")
    left = pair.received.dropped
    more = "; left out: " + ", ".join(f"{name} ({why})" for name, why in left) if left else ""
    return passed(f"{len(given)} published tensors, {len(ours) + len(pair.weights)} of ours{more}")


def _same(found: Tensor | None, wanted: Tensor) -> bool:
    return found is not None and found.dtype == wanted.dtype and torch.equal(found, wanted)


def _canary(pair: Pair) -> Outcome:
    found = canary(pair)
    text = f"{found.noticed} of {found.pairs} swaps of equal shape are noticed"
    for reason, count in found.declared.items():
        text += f"; {count} cannot matter: {reason}"
    for two in (*found.missed, *found.wrongly):
        return failed(f"{text}; but not so {' and '.join(two)}")
    return passed(text)


COMPARISONS = (
    Comparison("logits", "All outputs agree with the library's in float32.", _logits),
    Comparison("layers", "So does what every layer gives.", _layers),
    Comparison("padded", "Padding on either side changes nothing at real tokens.", _padded),
    Comparison("cached", "Decoding step by step agrees with the library's own.", _cached),
    Comparison("generation", "Greedy decoding agrees with the library's own.", generation),
    Comparison("float64", "In float64 as far as the library computes in it.", _float64),
    Comparison("bfloat16", "How far apart the two are in bfloat16.", _bfloat16),
    Comparison("round_trip", "There and back again every tensor has its bytes.", _round_trip),
    Comparison("canary", "Two tensors swapped are noticed, whichever two.", _canary),
)
