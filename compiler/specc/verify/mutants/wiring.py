"""Mistakes with blocks, inputs, stacks, feed-forwards and heads."""

from __future__ import annotations

from dataclasses import replace

from specc.ir.block import (
    Block,
    Embedding,
    EmbeddingScale,
    Segment,
    Stack,
    Sublayer,
    TokenInput,
    Wiring,
)
from specc.ir.feed_forward import Glu, Mlp
from specc.ir.heads import (
    ClassifierHead,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Pool,
    Pooler,
    Tied,
)
from specc.ir.init import ZEROS, StandardNormal
from specc.ir.layers import Activation, Linear
from specc.ir.model import Model
from specc.ir.sizes import Constant, width
from specc.ir.walk import walk
from specc.verify.mutants.experts import activations
from specc.verify.mutants.mutant import (
    Mutant,
    choices,
    dropped,
    each,
    set_to,
)
from specc.verify.mutants.streams import RESIDUALS, STACKS


def _exchanged(part: Glu) -> Glu:
    """silu(up) * gate."""
    gate, up = replace(part.gate, name=part.up.name), replace(part.up, name=part.gate.name)
    return replace(part, gate=gate, up=up)


def _post(part: Sublayer) -> Sublayer:
    """Pre-norm becomes post-norm."""
    if part.pre is None or part.out is not None:
        return part
    return replace(part, pre=None, out=part.pre)


def _pre(part: Sublayer) -> Sublayer:
    """Post-norm becomes pre-norm."""
    if part.out is None or part.pre is not None:
        return part
    return replace(part, pre=part.out, out=None)


def _inside(part: Sublayer) -> Sublayer:
    """The norm moves from before the sublayer to behind it, inside the residual."""
    if part.pre is None or part.post is not None:
        return part
    return replace(part, pre=None, post=part.pre)


def _reversed(part: Block) -> Block:
    return replace(part, sublayers=part.sublayers[::-1])


def _all_parallel(model: Model) -> str | None:
    blocks = [part for part in walk(model.stacks) if isinstance(part, Block)]
    if all(block.wiring is Wiring.PARALLEL for block in blocks):
        return "parallel sublayers are added up, in any order"
    return None


def _parallel(part: Block) -> Block:
    if any(sublayer.out is not None for sublayer in part.sublayers):
        return part
    return replace(part, wiring=Wiring.PARALLEL)


def _rotated(part: Segment) -> Segment:
    """The pattern starts one type later."""
    return replace(part, cycle=part.cycle[1:] + part.cycle[:1])


def _untied(part: Tied) -> Linear:
    rows, features = part.embedding.rows, part.embedding.width
    return Linear(
        "head", width(features), width(rows), part.bias_name is not None, part.embedding.init, ZEROS
    )


def _tied_bias(part: Tied) -> Tied:
    return replace(part, bias_name="head_bias" if part.bias_name is None else None)


def _untied_head(part: LanguageModelHead) -> LanguageModelHead:
    tied = part.projection
    return replace(part, projection=_untied(tied)) if isinstance(tied, Tied) else part


FEED_FORWARDS: dict[str, tuple[Mutant, ...]] = {
    "Mlp": choices(Mlp, "activation", Activation),
    "Glu": (
        *activations(Glu),
        each("gate and up exchanged", Glu, _exchanged),
    ),
}

BLOCKS: dict[str, tuple[Mutant, ...]] = {
    "Block": (
        each("sequential", Block, lambda part: replace(part, wiring=Wiring.SEQUENTIAL)),
        each("parallel", Block, _parallel),
        each("sublayers reversed", Block, _reversed, _all_parallel),
    ),
    "Sublayer": (
        each("pre-norm becomes post-norm", Sublayer, _post),
        each("post-norm becomes pre-norm", Sublayer, _pre),
        each("pre-norm moves behind the sublayer", Sublayer, _inside),
        dropped(Sublayer, "pre"),
        dropped(Sublayer, "post"),
        dropped(Sublayer, "out"),
        *RESIDUALS,
    ),
    "Segment": (each("the pattern starts one type later", Segment, _rotated),),
    "LayerType": (),
    "Stack": (dropped(Stack, "final_norm"), *STACKS),
}


INPUTS: dict[str, tuple[Mutant, ...]] = {
    "TokenInput": (
        *choices(TokenInput, "scale", EmbeddingScale),
        set_to(TokenInput, "scale", Constant("embedding_scale", 2.0)),
        dropped(TokenInput, "types"),
        dropped(TokenInput, "position"),
        dropped(TokenInput, "norm"),
        dropped(TokenInput, "dropout"),
    ),
    "Embedding": (
        set_to(Embedding, "init", ZEROS),
        set_to(Embedding, "init", StandardNormal()),
    ),
}

HEADS: dict[str, tuple[Mutant, ...]] = {
    "Tied": (
        replace(each("", LanguageModelHead, _untied_head), name="Tied: the tie is lost"),
        each("bias flipped", Tied, _tied_bias),
    ),
    "MaskedLanguageModelHead": choices(MaskedLanguageModelHead, "activation", Activation),
    "ClassifierHead": (
        *choices(ClassifierHead, "pool", Pool),
        dropped(ClassifierHead, "pooler"),
    ),
    "Pooler": choices(Pooler, "activation", Activation),
    "FeaturesHead": (),
}
