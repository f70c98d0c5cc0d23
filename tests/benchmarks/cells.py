"""One cell of the table: work that every peer and a floor do in turns, and its samples."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
import torch.nn.functional as F
from torch import Tensor, nn
from torch._dynamo.exc import TorchDynamoException
from torch._dynamo.utils import counters

from tests.benchmarks import floors
from tests.benchmarks.peers import Decoding, Peer
from tests.benchmarks.shapes import SEED, Shape
from tests.benchmarks.timing import Work, interleaved

PREFILL, TRAINING, DECODE, START = "prefill", "training step", "decode", "start-up"
EAGER, COMPILED = "eager", "compiled"
TASKS, MODES = (PREFILL, TRAINING, DECODE), (EAGER, COMPILED)
LENGTHS = {PREFILL: (64, 512), TRAINING: (64, 512), DECODE: (32, 512)}
BATCHES = {"1M": 4, "25M": 2, "110M": 1}  # of a training step
STEPS = {"1M": 64, "25M": 64, "110M": 32}  # of one sample of decoding
LIMIT = 1e-4  # relative: what two ways may differ by


class DisagreementError(Exception):
    """Two ways do not compute the same, so their times say nothing."""


@dataclass(frozen=True)
class Key:
    """Which cell."""

    family: str
    size: str
    task: str
    length: int
    mode: str

    def __str__(self) -> str:
        return f"{self.family} {self.size}, {self.task} {self.length}, {self.mode}"


@dataclass(frozen=True)
class Cell:
    """Seconds of every way, a sample a round; why a way is not there; compilations of each."""

    key: Key
    samples: dict[str, list[float]]
    missing: dict[str, str] = field(default_factory=dict)
    graphs: dict[str, int] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        """As it is stored."""
        rest = {"samples": self.samples, "missing": self.missing, "graphs": self.graphs}
        return asdict(self.key) | rest

    @classmethod
    def of(cls, stored: dict[str, Any]) -> Cell:
        """From what `json` gave."""
        key = Key(**{each.name: stored[each.name] for each in fields(Key)})
        return cls(key, stored["samples"], stored["missing"], stored["graphs"])


def stored_cells(file: Path) -> list[Cell]:
    """The cells of a run that was stored."""
    return [Cell.of(each) for each in json.loads(file.read_text(encoding="utf-8"))["cells"]]


@dataclass(frozen=True)
class Way:
    """A peer at work: its module as it was built, and as it is called."""

    peer: Peer
    plain: nn.Module
    live: nn.Module


Made = tuple[Work, Callable[[], Tensor]]  # what is timed, and what it must agree on


def prefill(way: Way, key: Key) -> Made:
    """All logits of one text."""
    tokens = some_tokens(way.peer.shape, 1, key.length)
    way.plain.eval()

    def run() -> Tensor:
        return way.peer.logits(way.live, tokens)

    return Work(run), run


def training(way: Way, key: Key) -> Made:
    """Forward, cross-entropy, backward, one step of AdamW. A rate of 0 costs the same and keeps
    the weights of all peers equal.
    """
    tokens = some_tokens(way.peer.shape, BATCHES[key.size], key.length + 1)
    optimizer = torch.optim.AdamW(way.plain.parameters(), lr=0.0, fused=True)
    way.plain.train()

    def run() -> Tensor:
        optimizer.zero_grad()
        logits = way.peer.logits(way.live, tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        return loss.detach()

    return Work(run), run


def decode(way: Way, key: Key) -> Made:
    """One token after another behind a prompt; the time is of one step."""
    steps, peer = STEPS[key.size], way.peer
    if not isinstance(peer, Decoding):
        raise TypeError(f"{peer.name} has no cache")
    tokens = some_tokens(peer.shape, 1, key.length + steps)
    way.plain.eval()
    prompt, news = tokens[:, : key.length], tokens[:, key.length :].split(1, dim=1)
    start = peer.begin(way.plain, prompt, key.length + steps, key.mode == COMPILED)

    def run() -> Tensor:
        cache = start
        for token in news:
            logits, cache = peer.step(way.live, cache, token)
        return logits

    def ready() -> None:
        peer.rewind(start, key.length)

    return Work(run, steps, ready), run


MAKERS: dict[str, Callable[[Way, Key], Made]] = {
    PREFILL: prefill,
    TRAINING: training,
    DECODE: decode,
}


@dataclass(frozen=True)
class Ready:
    """The work of every way and floor, warm; why a way is not there; compilations of each."""

    works: dict[str, Work]
    missing: dict[str, str]
    graphs: dict[str, int]


def measure(key: Key, ways: dict[str, tuple[Peer, nn.Module]], seconds: float) -> Cell:
    """Warm every way up, see that all agree, and time them. Raises DisagreementError."""
    with made_ready(key, ways) as ready:
        samples = interleaved(ready.works, seconds)
    return Cell(key, samples, ready.missing, ready.graphs if key.mode == COMPILED else {})


@contextmanager
def made_ready(key: Key, ways: dict[str, tuple[Peer, nn.Module]]) -> Iterator[Ready]:
    """All ways of a cell, warm and agreed, to be timed inside. Raises DisagreementError."""
    torch._dynamo.reset()
    works: dict[str, Work] = {}
    missing: dict[str, str] = {}
    graphs: dict[str, int] = {}
    wanted: Tensor | None = None
    with _mode(key.task):
        for name, (peer, plain) in ways.items():
            if key.task == DECODE and not isinstance(peer, Decoding):
                missing[name] = "it has no cache"
                continue
            live = torch.compile(plain) if key.mode == COMPILED else plain
            try:
                works[name], found, graphs[name] = _warm(Way(peer, plain, live), key)
            except (TorchDynamoException, RuntimeError) as error:
                missing[name] = f"{type(error).__name__}: {str(error).strip().splitlines()[0]}"
                continue
            wanted = found if wanted is None else wanted
            _refuse_difference(f"{key}: {name}", found, wanted)
        works |= _floors(key, next(iter(ways.values()))[0].shape)
        yield Ready(works, missing, graphs)
    _forget(ways)


@contextmanager
def _mode(task: str) -> Iterator[None]:
    if task == TRAINING:
        yield
    else:
        with torch.inference_mode():
            yield


def _warm(way: Way, key: Key) -> tuple[Work, Tensor, int]:
    """Runs it twice; gives its work, its result, and how often it was compiled for that."""
    counters.clear()
    work, answer = MAKERS[key.task](way, key)
    for _ in range(2):
        work.ready()
        found = answer()
    return work, found.clone(), counters["stats"]["unique_graphs"]


def _refuse_difference(what: str, found: Tensor, wanted: Tensor) -> None:
    error = ((found - wanted).abs().max() / wanted.abs().max()).item()
    if not error <= LIMIT:
        raise DisagreementError(f"{what} is off by {error:.1e} (limit {LIMIT:.0e})")


def _floors(key: Key, shape: Shape) -> dict[str, Work]:
    if key.task == PREFILL:
        return {floors.PRODUCTS: Work(floors.products(shape, key.length))}
    if key.task == DECODE:
        steps = STEPS[key.size]
        return {n: Work(_often(read, steps), steps) for n, read in floors.readings(shape).items()}
    return {}


def _often(do: Callable[[], object], times: int) -> Callable[[], object]:
    def run() -> None:
        for _ in range(times):
            do()

    return run


def _forget(ways: dict[str, tuple[Peer, nn.Module]]) -> None:
    for _, plain in ways.values():
        plain.zero_grad()


def some_tokens(shape: Shape, batch: int, length: int) -> Tensor:
    """Random ids, the same for every peer."""
    generator = torch.Generator().manual_seed(SEED)
    return torch.randint(shape.number("vocab_size"), (batch, length), generator=generator)
