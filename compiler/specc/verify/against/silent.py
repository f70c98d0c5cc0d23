"""Swaps of published tensors that cannot matter, by rules over the IR, each with its reason.

A key's bias adds the same to all scores of one query; gains of queries and keys only meet as a
product; biases of parallel sublayers only meet as a sum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from specc.ir.attention import Attention, NormOver, QkNorm
from specc.ir.block import Block, Wiring
from specc.ir.model import Model
from specc.ir.positions import Rotary
from specc.weights import Move

KEY_BIASES = "softmax cancels a key's bias where nothing turns the key"
GAINS = "gains of queries and keys only meet as a product where nothing turns between"
PARALLEL = "biases of parallel sublayers only meet as a sum"

Swap = frozenset[str]


def silent_swaps(model: Model, moves: Sequence[Move]) -> dict[Swap, str]:
    """Published names of each such pair -> why."""
    theirs = {move.ours[0].name: move.theirs for move in moves if len(move.ours) == 1}
    found: dict[Swap, str] = {}
    for ours, reason in _ours(model):
        if all(len(theirs.get(name, ())) == 1 for name in ours):
            found[frozenset(theirs[name][0].name for name in ours)] = reason
    return found


def _ours(model: Model) -> Iterator[tuple[Swap, str]]:
    biases: list[str] = []
    for stack in model.stacks:
        for i, layer in enumerate(stack.layers):
            place = f"{stack.layers_name}.{i}"
            yield from _of_block(layer.block, place)
            biases += [
                f"{place}.{sub.name}.k_proj.bias"
                for sub in layer.block.sublayers
                if isinstance(sub.body, Attention) and _cancels(sub.body)
            ]
    for two in combinations(biases, 2):
        yield frozenset(two), KEY_BIASES


def _of_block(block: Block, place: str) -> Iterator[tuple[Swap, str]]:
    for sub in block.sublayers:
        if isinstance(sub.body, Attention) and _multiplies(sub.body):
            prefix = f"{place}.{sub.name}"
            yield frozenset({f"{prefix}.q_norm.weight", f"{prefix}.k_norm.weight"}), GAINS
    if block.wiring is Wiring.PARALLEL and all(sub.post is None for sub in block.sublayers):
        last = {"attention": "o_proj", "feed_forward": "down_proj"}
        names = [f"{place}.{s.name}.{last[s.name]}.bias" for s in block.sublayers if s.name in last]
        for two in combinations(names, 2):
            yield frozenset(two), PARALLEL


def _cancels(part: Attention) -> bool:
    """Whether a constant added to all keys adds the same to all scores of a query."""
    bent = (part.qk_norm, part.clip, part.softcap, part.sinks)
    return not isinstance(part.position, Rotary) and all(each is None for each in bent)


def _multiplies(part: Attention) -> bool:
    """Whether each gain of a query meets the same feature's gain of a key, and nothing else."""
    is_straight = part.position is None or not isinstance(part.position, Rotary)
    norm = part.qk_norm
    return isinstance(norm, QkNorm) and norm.over is NormOver.HEAD and is_straight
