"""Every two published tensors of one shape swapped, one pair at a time: parity must notice.

Pairs that cannot matter are declared by rules (`silent`), and must then make no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor, nn

from specc.convert.arithmetic import run_steps
from specc.verify.against.pair import Pair
from specc.verify.against.silent import silent_swaps
from specc.verify.calls import Outputs
from specc.verify.metrics import worst_error
from specc.weights import Move, operations

LIMIT = 1e-5
ROWS = (12, 96, 384)  # as many as it takes for every expert to be chosen

Swap = tuple[str, str]


@dataclass(frozen=True)
class Canary:
    """How many swaps there are, and what became of them."""

    pairs: int  # that can matter
    missed: tuple[Swap, ...]
    declared: dict[str, int]  # reason -> how many cannot matter
    wrongly: tuple[Swap, ...]  # declared so, and yet they do

    @property
    def noticed(self) -> int:
        return self.pairs - len(self.missed)


def canary(pair: Pair) -> Canary:
    """Try them all."""
    live = pair.ours(torch.float32)
    moves = [op for op in operations(pair.small, pair.layout) if isinstance(op, Move)]
    tensors = {named.name: pair.sent.tensors[named.name] for move in moves for named in move.theirs}
    silent = silent_swaps(pair.small, moves)
    every = list(_swaps(tensors))
    quiet = [swap for swap in every if frozenset(swap) in silent]
    loud = [swap for swap in every if frozenset(swap) not in silent]
    bench = Bench(pair, live, moves, tensors)
    missed = loud
    for rows in ROWS:
        missed = bench.unnoticed(missed, rows) if missed else []
    still = bench.unnoticed(quiet, ROWS[0])
    reasons = Counter(silent[frozenset(swap)] for swap in quiet)
    wrongly = tuple(swap for swap in quiet if swap not in still)
    return Canary(len(loud), tuple(missed), dict(reasons), wrongly)


@dataclass(frozen=True)
class Bench:
    """A live model of ours that tensors are swapped in, and the library's answer."""

    pair: Pair
    live: nn.Module
    moves: list[Move]
    tensors: dict[str, Tensor]

    def unnoticed(self, swaps: list[Swap], rows: int) -> list[Swap]:
        """Those that make no difference to that many rows of tokens."""
        question = self.pair.question(rows=rows)
        names = [head.output_name for head in self.pair.model.heads]
        theirs = self.pair.theirs(torch.float32).outputs(question)
        right = dict(zip(names, theirs, strict=False))
        found = []
        for swap in swaps:
            with Swapped(self.live, self.moves, self.tensors, *swap):
                if not _notices(self.pair.answer(self.live, question), right):
                    found.append(swap)
        return found


def _notices(wrong: Outputs, right: Outputs) -> bool:
    return worst_error(wrong, right)[0] > LIMIT


def _swaps(tensors: Mapping[str, Tensor]) -> Iterator[Swap]:
    by_shape: dict[tuple[int, ...], list[str]] = {}
    for name, tensor in tensors.items():
        by_shape.setdefault(tuple(tensor.shape), []).append(name)
    for names in by_shape.values():
        yield from combinations(names, 2)


class Swapped:
    """The live model with two published tensors in each other's place, for a while."""

    def __init__(
        self, live: nn.Module, moves: list[Move], tensors: dict[str, Tensor], one: str, other: str
    ) -> None:
        touched = [m for m in moves if any(n.name in (one, other) for n in m.theirs)]
        given = tensors | {one: tensors[other], other: tensors[one]}
        state = live.state_dict()
        self._changes = [
            (state[named.name], tensor)
            for move in touched
            for named, tensor in zip(
                move.ours, run_steps(move.steps, [given[n.name] for n in move.theirs]), strict=True
            )
        ]
        self._before = [(target, target.clone()) for target, _ in self._changes]

    def __enter__(self) -> None:
        _copy(self._changes)

    def __exit__(self, *_: object) -> None:
        _copy(self._before)


def _copy(changes: list[tuple[Tensor, Tensor]]) -> None:
    with torch.no_grad():
        for target, tensor in changes:
            target.copy_(tensor)
