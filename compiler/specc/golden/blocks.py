"""Feed-forwards, and the wiring of a block: x <- out(x + post(body(pre(x))))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from torch import Tensor

from specc.golden.attention import Sequence, attention
from specc.golden.functions import activation
from specc.golden.scope import Scope
from specc.ir.attention import Attention
from specc.ir.block import Block, Sublayer, Wiring
from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import FeedForward, Glu, Mlp
from specc.ir.layers import Norm

Function = Callable[[Tensor], Tensor]


def identity(x: Tensor) -> Tensor:
    """What an empty slot does."""
    return x


@dataclass(frozen=True)
class Step:
    """A sublayer as four functions."""

    body: Function
    pre: Function = identity
    post: Function = identity
    out: Function = identity


def sequential(x: Tensor, steps: list[Step]) -> Tensor:
    """Each step reads what the one before it left."""
    for step in steps:
        x = step.out(x + step.post(step.body(step.pre(x))))
    return x


def parallel(x: Tensor, steps: list[Step]) -> Tensor:
    """All steps read the same x, one sum adds them; a `pre` that steps share runs once."""
    if any(step.out is not identity for step in steps):
        raise ValueError("parallel sublayers have one sum and no norm after the sum")
    read = {pre: pre(x) for pre in dict.fromkeys(step.pre for step in steps)}
    return sum((step.post(step.body(read[step.pre])) for step in steps), start=x)


def feed_forward(part: FeedForward, scope: Scope, x: Tensor) -> Tensor:
    """[B, T, D] -> [B, T, D], each token alone; `scope` is the feed-forward's own."""
    match part:
        case Mlp():
            hidden = activation(part.activation, scope.linear(part.up, x))
        case Glu():
            gate = activation(part.activation, scope.linear(part.gate, x))
            hidden = gate * scope.linear(part.up, x)
        case _:
            assert_never(part)
    hidden = scope.drop(part.hidden_dropout, hidden)
    return scope.drop(part.output_dropout, scope.linear(part.down, hidden))


def block(part: Block, scope: Scope, x: Sequence, memory: Sequence | None) -> Tensor:
    """[B, T, D] -> [B, T, D]; `scope` is the block's own."""
    norms: dict[Norm | None, Function] = {None: identity}
    for sublayer in part.sublayers:
        for slot in (sublayer.pre, sublayer.post, sublayer.out):
            if slot is not None and slot not in norms:
                norms[slot] = partial(scope.norm, slot)
    steps = [
        Step(
            body=partial(_body, sublayer, scope, x.real, memory),
            pre=norms[sublayer.pre],
            post=norms[sublayer.post],
            out=norms[sublayer.out],
        )
        for sublayer in part.sublayers
    ]
    match part.wiring:
        case Wiring.SEQUENTIAL:
            return sequential(x.features, steps)
        case Wiring.PARALLEL:
            return parallel(x.features, steps)
        case _:
            assert_never(part.wiring)


def _body(
    sublayer: Sublayer, scope: Scope, real: Tensor | None, memory: Sequence | None, x: Tensor
) -> Tensor:
    inside = scope.inside(sublayer.name)
    match sublayer.body:
        case Attention():
            y = attention(sublayer.body, inside, Sequence(x, real), memory)
        case Mlp() | Glu():
            y = feed_forward(sublayer.body, inside, x)
        case _:
            assert_never(sublayer.body)
    return scope.note(sublayer.name, y)
