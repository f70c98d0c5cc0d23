"""The wiring of a block: x <- out(residual(x) + gain * post(body(pre(x))))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from torch import Tensor

from specc.golden.attention import attention
from specc.golden.feed_forward import feed_forward
from specc.golden.latent import latent_attention
from specc.golden.products import Sequence
from specc.golden.scope import Scope
from specc.ir.attention import Attention, LatentAttention
from specc.ir.block import Block, LayerScale, Residual, Sublayer, Wiring
from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import Glu, MixtureOfExperts, Mlp
from specc.ir.layers import Norm
from specc.ir.sizes import Constant

Function = Callable[[Tensor], Tensor]


def identity(x: Tensor) -> Tensor:
    """What an empty slot does."""
    return x


@dataclass(frozen=True)
class Step:
    """A sublayer as functions; `residual` says what its output is added to."""

    body: Function
    pre: Function = identity
    post: Function = identity
    gain: Function = identity
    out: Function = identity
    residual: Residual = Residual.RAW


def sequential(x: Tensor, steps: list[Step]) -> Tensor:
    """Each step reads what the one before it left."""
    for step in steps:
        read = step.pre(x)
        added = step.gain(step.post(step.body(read)))
        x = step.out(_base(step.residual, x, read) + added)
    return x


def parallel(x: Tensor, steps: list[Step]) -> Tensor:
    """All steps read the same x, one sum adds them; a `pre` that steps share runs once."""
    if any(step.out is not identity for step in steps):
        raise ValueError("parallel sublayers have one sum and no norm after the sum")
    if len({(step.residual, _normed_by(step)) for step in steps}) > 1:
        raise ValueError("parallel sublayers have one sum, and it starts from one residual")
    read = {pre: pre(x) for pre in dict.fromkeys(step.pre for step in steps)}
    start = _base(steps[0].residual, x, read[steps[0].pre])
    added = (step.gain(step.post(step.body(read[step.pre]))) for step in steps)
    return sum(added, start=start)


def _base(residual: Residual, x: Tensor, read: Tensor) -> Tensor:
    match residual:
        case Residual.RAW:
            return x
        case Residual.NORMED:
            return read
        case _:
            assert_never(residual)


def _normed_by(step: Step) -> Function | None:
    return step.pre if step.residual is Residual.NORMED else None


def block(part: Block, scope: Scope, x: Sequence, memory: Sequence | None) -> Tensor:
    """[B, T, D] -> [B, T, D]; `scope` is the block's own."""
    norms: dict[Norm | None, Function] = {None: identity}
    for sublayer in part.sublayers:
        for slot in (sublayer.pre, sublayer.post, sublayer.out):
            if slot is not None and slot not in norms:
                norms[slot] = partial(scope.norm, slot)
    steps = [
        Step(
            body=partial(_body, sublayer, scope, x, memory),
            pre=norms[sublayer.pre],
            post=norms[sublayer.post],
            gain=partial(_gain, sublayer.layer_scale, sublayer.multiplier, scope),
            out=norms[sublayer.out],
            residual=sublayer.residual,
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


def _gain(scale: LayerScale | None, multiplier: Constant | None, scope: Scope, y: Tensor) -> Tensor:
    """multiplier * layer_scale * y."""
    if scale is not None:
        y = y * scope.weight(scale.name)
    return y if multiplier is None else y * multiplier.value


def _body(
    sublayer: Sublayer, scope: Scope, tokens: Sequence, memory: Sequence | None, x: Tensor
) -> Tensor:
    """What the sublayer makes of x, the features of those tokens as it reads them."""
    inside = scope.inside(sublayer.name)
    match sublayer.body:
        case Attention():
            y = attention(sublayer.body, inside, replace(tokens, features=x), memory)
        case LatentAttention():
            y = latent_attention(sublayer.body, inside, replace(tokens, features=x))
        case Mlp() | Glu() | MixtureOfExperts():
            y = feed_forward(sublayer.body, inside, x)
        case _:
            assert_never(sublayer.body)
    return scope.note(sublayer.name, y)
