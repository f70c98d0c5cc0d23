"""Mistakes with what enters, carries and leaves the stream: residuals, gains, projections, caps."""

from __future__ import annotations

from dataclasses import replace

from specc.ir.block import (
    Block,
    LayerScale,
    LayerType,
    ProjectAt,
    Projection,
    Residual,
    Stack,
    Sublayer,
    TokenInput,
    Wiring,
)
from specc.ir.heads import LanguageModelHead, Tied
from specc.ir.init import Fill
from specc.ir.layers import Norm
from specc.ir.model import Model
from specc.ir.positions import LearnedPosition, Sinusoidal
from specc.ir.sizes import Size, width
from specc.ir.walk import walk
from specc.verify.mutants.mutant import Mutant, dropped, each, scaled


def _normed(part: Block) -> Block:
    """Sublayers add to what they read, normed, in place of the stream."""
    if part.wiring is Wiring.PARALLEL:
        return part
    return replace(part, sublayers=tuple(_on_normed(s) for s in part.sublayers))


def _on_normed(part: Sublayer) -> Sublayer:
    return part if part.pre is None else replace(part, residual=Residual.NORMED)


def _raw(part: Sublayer) -> Sublayer:
    return replace(part, residual=Residual.RAW)


def _slots(part: Sublayer) -> tuple[Norm | None, Norm | None, Norm | None]:
    return part.pre, part.post, part.out


def _no_norm_skipped(part: Stack) -> Stack:
    """A sublayer without norms gets those that its like has in another layer type."""
    sublayers = [s for layer in part.layer_types for s in layer.block.sublayers]
    like = {s.name: s for s in sublayers if any(_slots(s))}

    def filled(sublayer: Sublayer) -> Sublayer:
        model = like.get(sublayer.name)
        if any(_slots(sublayer)) or model is None:
            return sublayer
        return replace(sublayer, pre=model.pre, post=model.post, out=model.out)

    def layer_type(layer: LayerType) -> LayerType:
        found = tuple(filled(sublayer) for sublayer in layer.block.sublayers)
        return replace(layer, block=replace(layer.block, sublayers=found))

    return replace(part, layer_types=tuple(layer_type(layer) for layer in part.layer_types))


def _segments_reversed(part: Stack) -> Stack:
    return replace(part, segments=part.segments[::-1])


def projected(at: ProjectAt) -> Mutant:
    """The map from a narrower embedding at another place, if something lies between the two."""

    def change(part: TokenInput) -> TokenInput:
        project = part.project
        added = part.types is not None or part.position is not None
        if project is None or not _matters(project.at, at, added, part.norm is not None):
            return part
        (wide,) = project.linear.outputs.sizes
        narrow = part.embedding.width
        early = wide if at is ProjectAt.BEFORE_POSITION else narrow
        late = narrow if at is ProjectAt.AFTER_NORM else wide
        return replace(
            part,
            project=replace(project, at=at),
            types=None if part.types is None else replace(part.types, width=early),
            position=_widened(part.position, early),
            norm=None if part.norm is None else replace(part.norm, width=width(late)),
        )

    return replace(each("", TokenInput, change), name=f"{Projection.__name__}: {at.value}")


def _matters(one: ProjectAt, other: ProjectAt, added: bool, normed: bool) -> bool:
    is_before = ProjectAt.BEFORE_POSITION in (one, other)
    is_after = ProjectAt.AFTER_NORM in (one, other)
    return one is not other and ((is_before and added) or (is_after and normed))


def _widened(
    part: Sinusoidal | LearnedPosition | None, size: Size
) -> Sinusoidal | LearnedPosition | None:
    return None if part is None else replace(part, width=size)


def _exchanged(part: LanguageModelHead) -> LanguageModelHead:
    """The factor of the logits on the features, and the other way round."""
    return replace(part, in_scale=part.out_scale, out_scale=part.in_scale)


def _carried_through(model: Model) -> str | None:
    """Why a factor may stand on either side of the output matrix."""
    for part in walk(model.heads):
        if isinstance(part, LanguageModelHead):
            matrix = part.projection
            bias = matrix.bias_name is not None if isinstance(matrix, Tied) else matrix.bias
            if bias:
                return None
    return "a matrix without bias carries a factor through"


STACKS = (
    each("norms that a layer type skips are there", Stack, _no_norm_skipped),
    each("segments in the other order", Stack, _segments_reversed),
)

RESIDUALS = (
    replace(each("", Block, _normed), name="Sublayer: residual from the normed input"),
    each("residual from the raw input", Sublayer, _raw),
    dropped(Sublayer, "multiplier"),
    scaled(Sublayer, "multiplier", 2),
)

STREAMS: dict[str, tuple[Mutant, ...]] = {
    "LayerScale": (
        replace(dropped(Sublayer, "layer_scale"), name="LayerScale: left out"),
        each("starts at 1", LayerScale, lambda part: replace(part, init=Fill(1.0))),
    ),
    "Projection": tuple(projected(at) for at in ProjectAt),
    "LanguageModelHead": (
        dropped(LanguageModelHead, "in_scale"),
        dropped(LanguageModelHead, "out_scale"),
        each("multipliers exchanged", LanguageModelHead, _exchanged, _carried_through),
        dropped(LanguageModelHead, "softcap"),
        scaled(LanguageModelHead, "softcap", 2),
        dropped(LanguageModelHead, "vocab_size"),
    ),
}
