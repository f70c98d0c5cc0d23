"""Texts that the file continues: greedy ones equal golden's loop, drawn ones follow its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from specc.golden import Inputs
from specc.ir.attention import Attention, AttentionSource, SeparateProjections
from specc.ir.heads import LanguageModelHead
from specc.ir.model import Kind, Model
from specc.verify.calls import RefutedError, arguments, named
from specc.verify.checks.check import Check, counted
from specc.verify.inputs import beginning, rows_of
from specc.verify.live import generating, translating
from specc.verify.metrics import relative_error, worst_error
from specc.verify.places import sublayers
from specc.verify.report import Outcome, not_applicable, passed
from specc.verify.subject import Subject
from specc.verify.texts import NEW, Texts

DRAWS = 1000
SPREADS = (1.5, 1.0)  # of logits over the temperature: the first for which that is not about 1
ABOUT_ONE = (0.85, 1.18)
SHORT = 2  # tokens of the text that is drawn for
CHANCE = 5.0  # deviations of a frequency that are no accident
LIMIT = 1e-12


@dataclass(frozen=True)
class Generation(Check):
    """`generate` continues texts as a greedy loop over golden does, stops and draws as told."""

    name: str = "generation"

    def run(self, subject: Subject) -> Outcome:
        """Try each way to continue."""
        if not subject.model.generate:
            return not_applicable("the spec has no generate")
        live = subject.build()
        texts = subject.texts
        live.load_state_dict(texts.weights)
        _follow(live, subject.small, texts)
        _stop(live, subject.small, texts)
        _cut(live, subject, texts.inputs)
        _read_once(live, subject.small, texts.inputs)
        short = beginning(rows_of(texts.inputs, [0]), SHORT)
        cases = list(_choices(subject, short))
        for choice in cases:
            _draw(subject, live, short, choice)
        _repeat(subject, live, short, cases[0])
        return passed(
            f"{texts.greedy.size(0)} texts, padded left by several lengths, and {NEW} new tokens"
            " equal a greedy loop over golden, whole, streamed and stopped;"
            f" {counted(len(cases), 'kind')} of {DRAWS} draws follow golden's numbers"
        )


def _follow(live: nn.Module, model: Model, texts: Texts) -> None:
    """All at once and step by step."""
    _compare("generate", _continued(live, model, texts.inputs, NEW), texts.greedy)
    with _overheard(live, model) as said:
        steps = list(_streamed(live, model, texts.inputs, NEW))
    _compare("stream", torch.stack(steps, 1), texts.greedy[:, -NEW:])
    error = relative_error(torch.cat(said, 1), texts.logits)
    if error > LIMIT:
        raise RefutedError(
            f"the logits by which stream chooses are off by {error:.1e} (limit {LIMIT:.0e})"
        )


@contextmanager
def _overheard(live: nn.Module, model: Model) -> Iterator[list[Tensor]]:
    """The logits of each step while the context lasts: [B, 1, V] each."""
    said: list[Tensor] = []
    name = _logits(model)

    is_translating = model.kind is Kind.ENCODER_DECODER
    method = "decode" if is_translating else "forward"
    inner: Callable[..., object] = translating(live).decode if is_translating else live.forward

    def told(*given: Any, **by_name: Any) -> object:  # noqa: ANN401
        returned = inner(*given, **by_name)
        said.append(named(model, returned)[name])
        return returned

    with patch.object(live, method, told):
        yield said


def _stop(live: nn.Module, model: Model, texts: Texts) -> None:
    """A text that has met the stop token goes on with it; one alone ends there."""
    alone = rows_of(texts.inputs, [texts.row])
    for what, inputs, wanted in (
        ("all texts", texts.inputs, texts.stopped),
        ("one text", alone, texts.alone),
    ):
        found = _continued(live, model, inputs, NEW, stop_token=texts.stop_token)
        _compare(f"generate with stop_token, {what},", found, wanted)


def _cut(live: nn.Module, subject: Subject, inputs: Inputs) -> None:
    """With `last_only`, the last column of all that forward gives."""
    model, name = subject.small, _logits(subject.small)
    with torch.no_grad():
        last = named(model, live(**arguments(model, inputs), last_only=True))
    full = subject.outputs(live, inputs)
    error, output = worst_error(last, {name: full[name][:, -1:]})
    if error > LIMIT:
        raise RefutedError(f"{output} with last_only is off by {error:.1e} (limit {LIMIT:.0e})")


@dataclass(frozen=True)
class Choice:
    """How a token is drawn, and with which probability each should be, by definition."""

    given: dict[str, Any]
    shares: Tensor  # [V] float64

    def __str__(self) -> str:
        return ", ".join(f"{name} {value:.3g}" for name, value in self.given.items())


def _draw(subject: Subject, live: nn.Module, inputs: Inputs, choice: Choice) -> None:
    """Many rows of one text, one new token each: how often each token comes."""
    counts = torch.bincount(
        _drawn(subject, live, inputs, choice, 0), minlength=choice.shares.numel()
    )
    foreign = counts[choice.shares == 0].sum().item()
    if foreign:
        raise RefutedError(f"{choice}: {foreign} of {DRAWS} draws are of tokens left out")
    gap = (counts / DRAWS - choice.shares).abs()
    room = CHANCE * (choice.shares * (1 - choice.shares) / DRAWS).sqrt() + 1 / DRAWS
    worst = int((gap - room).argmax())
    if gap[worst] > room[worst]:
        raise RefutedError(
            f"{choice}: token {worst} is drawn {counts[worst].item()} times in {DRAWS}, its share"
            f" is {choice.shares[worst].item():.3f}"
        )


def _repeat(subject: Subject, live: nn.Module, inputs: Inputs, choice: Choice) -> None:
    """A generator's seed decides, and nothing else."""
    first, second, other = (_drawn(subject, live, inputs, choice, seed) for seed in (0, 0, 1))
    if not torch.equal(first, second):
        raise RefutedError("two generators of one seed draw other tokens")
    if torch.equal(first, other):
        raise RefutedError("generators of two seeds draw the same tokens")


def _drawn(subject: Subject, live: nn.Module, inputs: Inputs, choice: Choice, seed: int) -> Tensor:
    crowd = rows_of(inputs, [0] * DRAWS)
    generator = torch.Generator().manual_seed(seed)
    return _continued(live, subject.small, crowd, 1, generator=generator, **choice.given)[:, -1]


def _choices(subject: Subject, inputs: Inputs) -> Iterator[Choice]:
    """Temperature alone; with top-k; with top-p; with both, top-p a share of the top-k."""
    one = replace(inputs, capacity=SHORT + 1)
    logits = subject.answer("what follows one text", one, weights=subject.texts.weights)[
        _logits(subject.small)
    ][0, -1]
    size = logits.std().item()
    low, high = ABOUT_ONE
    temperature = next(size / s for s in SPREADS if not low < size / s < high)
    shares = (logits / temperature).softmax(0)
    order = shares.argsort(descending=True)
    for top_k, kept in ((None, None), (4, None), (None, 5), (6, 3)):
        given: dict[str, Any] = {"temperature": temperature}
        allowed = order if top_k is None else order[:top_k]
        if top_k is not None:
            given["top_k"] = top_k
        if kept is not None:  # a limit halfway between two sums: rounding does not reach it
            sums = (shares[allowed] / shares[allowed].sum()).cumsum(0)
            given["top_p"] = (sums[kept - 2] + sums[kept - 1]).item() / 2
            allowed = allowed[:kept]
        wanted = torch.zeros_like(shares)
        wanted[allowed] = shares[allowed] / shares[allowed].sum()
        yield Choice(given, wanted)


def _logits(model: Model) -> str:
    """The output that says which token follows."""
    return next(h.output_name for h in model.heads if isinstance(h, LanguageModelHead))


def _continued(
    live: nn.Module, model: Model, inputs: Inputs, new: int, **choice: Any  # noqa: ANN401
) -> Tensor:
    found = generating(live).generate(**_asked(model, inputs), max_new_tokens=new, **choice)
    if not isinstance(found, Tensor):
        raise RefutedError(f"generate returns {type(found).__name__}, not a Tensor")
    return found


def _streamed(live: nn.Module, model: Model, inputs: Inputs, new: int) -> Iterator[Tensor]:
    return generating(live).stream(**_asked(model, inputs), max_new_tokens=new)


def _asked(model: Model, inputs: Inputs) -> dict[str, Any]:
    return {n: v for n, v in arguments(model, inputs).items() if n != "attention_layers"}


def _compare(what: str, found: Tensor, wanted: Tensor) -> None:
    """Token by token."""
    if found.shape != wanted.shape:
        raise RefutedError(f"{what} gives {list(found.shape)} tokens, golden {list(wanted.shape)}")
    if not torch.equal(found, wanted):
        column, row = (found != wanted).T.nonzero()[0].tolist()
        raise RefutedError(
            f"{what} gives token {found[row, column]} in row {row}, column {column}; golden's loop"
            f" gives {wanted[row, column]}"
        )


def _read_once(live: nn.Module, model: Model, inputs: Inputs) -> None:
    """Keys of a memory are projected once a text, whatever the number of steps."""
    read: list[str] = []
    for path, sublayer in sublayers(model, model.stacks[-1].name):
        body = sublayer.body
        if isinstance(body, Attention) and body.source is AttentionSource.MEMORY:
            names = body.projections
            if not isinstance(names, SeparateProjections):
                continue
            part = live.get_submodule(f"{path}.{names.k.name}")
            part.register_forward_hook(lambda *_, path=path: read.append(path))
    _continued(live, model, inputs, NEW)
    for path in dict.fromkeys(read):
        if read.count(path) > 1:
            raise RefutedError(
                f"{path} projects the memory {read.count(path)} times in {NEW} steps"
            )
