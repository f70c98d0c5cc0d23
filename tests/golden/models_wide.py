"""A decoder that holds every rarer part at once, in three kinds of layers and two segments."""

from __future__ import annotations

from dataclasses import replace

from specc.ir.block import (
    Block,
    LayerScale,
    LayerType,
    ProjectAt,
    Segment,
    Stack,
    Sublayer,
    TokenInput,
)
from specc.ir.feed_forward import Apply, GroupFill, GroupScore, Score
from specc.ir.heads import LanguageModelHead
from specc.ir.init import Fill
from specc.ir.model import Kind, Model
from specc.ir.positions import RotarySlice
from specc.ir.sizes import Constant, Size, width
from tests.golden import models as m
from tests.golden import models_attention as ma
from tests.golden import models_experts as mx

N_FIRST = Size("n_near_layers", 1, "L")
N_REST = Size("n_latent_layers", 2, "M")
REAL_VOCAB = Size("vocab_size", m.VOCAB.value - 3, "V")
PADDED_VOCAB = Size("padded_vocab_size", m.VOCAB.value, "Z")
NORM = m.rms_norm()
MULTIPLIER = Constant("residual_multiplier", 0.7)


def near_block(dropout: float = 0.0) -> Block:
    """A window, a cap, sinks, a clamp, a gate, gains of each head, the last features turned."""
    position = m.rotary(scaling=ma.yarn(4.0, 8, gain=1.1), rotary_dim=Size("rotary_dim", 4, "R"))
    part = replace(
        m.attention(
            position=replace(position, slice=RotarySlice.LAST),
            norm=ma.per_head_norm(),
            dropout=dropout,
        ),
        reach=ma.window(3),
        softcap=Constant("attention_softcap", 2.0),
        sinks=ma.sinks(),
        clip=Constant("clip_qkv", 1.5),
        gate=ma.gate(),
    )
    return m.block([part, mx.glu(clamp=mx.clamp(limit=0.9))], NORM, "sandwich")


def latent_block(dropout: float = 0.0) -> Block:
    """Latent keys; experts in groups, chosen by biased scores, beside a shared one with a gate."""
    router = mx.router(
        Score.SIGMOID,
        selection_bias=True,
        groups=mx.groups(4, 2, GroupScore.TOP2_SUM, GroupFill.MINUS_INFINITY),
        renormalise=True,
        renorm_eps=1e-20,
        scale=1.5,
    )
    experts = mx.mixture(router, mx.experts(), mx.shared(gate=True), dropout)
    latent = ma.latent(bias=True, multiplier=1.3, window_size=4, dropout=dropout)
    return m.block([latent, experts], NORM)


def far_block(dropout: float = 0.0) -> Block:
    """Chunks, a temperature, no rotation; experts with biases whose inputs are weighted."""
    part = replace(
        m.attention(dropout=dropout),
        reach=ma.chunk(4),
        temperature=ma.temperature(2.0, 0.5),
        scale_by_layer=True,
    )
    router = mx.router(Score.TOPK_SOFTMAX, bias=True, apply=Apply.INPUT)
    experts = mx.mixture(router, mx.experts(bias=True, clamp=mx.clamp(limit=1.1)))
    return m.block([part, experts], NORM)


def scaled(block: Block) -> Block:
    """The same block, all that it adds multiplied by a number and by gains."""

    def edit(part: Sublayer) -> Sublayer:
        gains = LayerScale(f"{part.name}_scale", width(m.D_MODEL), Fill(0.5))
        return replace(part, multiplier=MULTIPLIER, layer_scale=gains)

    return replace(block, sublayers=tuple(edit(part) for part in block.sublayers))


def wide_input(at: ProjectAt = ProjectAt.BEFORE_NORM, bias: bool = True) -> TokenInput:
    """A narrow embedding, and what is as narrow as it, before the projection."""
    is_first, is_last = at is ProjectAt.BEFORE_POSITION, at is ProjectAt.AFTER_NORM
    position = m.learned(offset=2)
    if not is_first:
        position = replace(position, width=mx.NARROW)
    features = width(mx.NARROW) if is_last else width(m.D_MODEL)
    return replace(
        m.token_input(
            scale=Constant("embedding_scale", 3.0),
            position=position,
            norm=m.layer_norm("embedding_norm", features),
        ),
        embedding=replace(mx.narrow_embedding(), rows=PADDED_VOCAB),
        project=mx.projection(at, bias),
    )


def wide_head(inputs: TokenInput) -> LanguageModelHead:
    return replace(
        m.tied_head(inputs, bias=True),
        project=m.linear("head_proj", width(m.D_MODEL), width(mx.NARROW), False),
        in_scale=Constant("head_in_multiplier", 0.5),
        out_scale=Constant("head_out_multiplier", 3.0),
        softcap=Constant("logit_softcap", 4.0),
        vocab_size=REAL_VOCAB,
    )


def wide_decoder(dropout: float = 0.0) -> Model:
    """near | latent, far"""
    inputs = wide_input()
    types = (
        LayerType("near", scaled(near_block(dropout))),
        LayerType("latent", latent_block(dropout)),
        LayerType("far", far_block(dropout)),
    )
    segments = (Segment((0,), N_FIRST), Segment((1, 2), N_REST))
    stack = Stack("decoder", "layers", inputs, types, segments, m.named(NORM, "norm"))
    return m.model(Kind.DECODER, [stack], [wide_head(inputs)])
