"""The golden library against transformers' models with windows, chunks, caps, sinks, scalings."""

from __future__ import annotations

from dataclasses import replace

import pytest
import transformers as hf

from specc.ir.attention import Factor, InverseSqrt
from specc.ir.block import EmbeddingScale, Wiring
from specc.ir.heads import LanguageModelHead
from specc.ir.layers import Activation, Cast, NormWeight
from specc.ir.positions import PositionIndex, RotaryLayout
from specc.ir.sizes import Constant, Size
from specc.ir.walk import resize
from tests.golden import models as m
from tests.golden import models_attention as ma
from tests.golden.foreign import (
    GPT2_NAMES,
    GPT2_SIZES,
    LLAMA_NAMES,
    SANDWICH_NAMES,
    WIDE,
    Case,
    decoder,
    hf_model,
    of_blocks,
    transposed,
    widened,
)

PLAIN = (False,) * 4
QKV = (True, True, True, False)
ROPE_4 = Size("rotary_dim", 4, "R")
EIGHT = {"d_model": 32, "head_dim": 8}
WIDE_8 = {"hidden_size": 32, "head_dim": 8}
UNITY = m.rms_norm(weight=NormWeight.ONE_PLUS, cast=Cast.AFTER_WEIGHT)


def rotary(**more):
    return m.rotary(**more)


def with_head(model, **more):
    """The same model with another head over the same projection."""
    (head,) = model.heads
    assert isinstance(head, LanguageModelHead)
    return replace(model, heads=(replace(head, **more),))


def mistral():
    part = replace(m.attention(bias=PLAIN, position=rotary()), reach=ma.window(3))
    return decoder([part, m.glu()], m.rms_norm(), tied=False)


def gemma2():
    scale = InverseSqrt(Size("attention_scale_width", 5, "A"))
    part = m.attention(bias=PLAIN, position=rotary(), scale=scale)
    part = replace(part, softcap=Constant("attention_softcap", 2.0))
    parts = [replace(part, reach=ma.window(3)), part]
    glu = m.glu(Activation.GELU_TANH)
    inputs = m.token_input(scale=EmbeddingScale.SQRT_WIDTH)
    blocks = [m.block([p, glu], UNITY, "sandwich") for p in parts]
    return with_head(
        of_blocks(blocks, UNITY, inputs=inputs, tied=True), softcap=Constant("logit_softcap", 3.0)
    )


def gemma3():
    scale = InverseSqrt(Size("attention_scale_width", 5, "A"))
    norm = m.qk_norm(weight=NormWeight.ONE_PLUS)
    norm = replace(norm, q=replace(norm.q, cast=Cast.AFTER_WEIGHT))
    near = m.attention(bias=PLAIN, position=rotary(theta=100.0), scale=scale, norm=norm)
    far = replace(near, position=rotary(scaling=ma.linear_scaling(8.0)))
    glu = m.glu(Activation.GELU_TANH)
    inputs = m.token_input(scale=EmbeddingScale.SQRT_WIDTH)
    parts = [replace(near, reach=ma.window(3)), far]
    blocks = [m.block([p, glu], UNITY, "sandwich") for p in parts]
    return of_blocks(blocks, UNITY, inputs=inputs, tied=True)


def olmo():
    part = m.attention(bias=PLAIN, position=rotary())
    part = replace(part, clip=Constant("clip_qkv", 0.5))
    norm = m.layer_norm(weight=NormWeight.NONE, bias=False)
    return widened(decoder([part, m.glu()], norm, tied=False))


def cohere():
    norm = m.layer_norm(bias=False)
    part = m.attention(
        bias=PLAIN, position=rotary(layout=RotaryLayout.INTERLEAVED), norm=ma.per_head_norm()
    )
    wiring = {"wiring": Wiring.PARALLEL, "shared": True}
    model = widened(decoder([part, m.glu()], norm, **wiring))
    return with_head(model, out_scale=Constant("head_out_multiplier", 0.0625))


def cohere2():
    norm = m.layer_norm(bias=False)
    far = m.attention(bias=PLAIN)
    near = replace(far, position=rotary(layout=RotaryLayout.INTERLEAVED), reach=ma.window(3))
    blocks = [m.block([p, m.glu()], norm, "pre", Wiring.PARALLEL, shared=True) for p in (near, far)]
    model = of_blocks(blocks, norm, tied=True)
    return with_head(model, out_scale=Constant("head_out_multiplier", 0.25))


def smollm3():
    turned = m.attention(bias=PLAIN, position=rotary())
    near = replace(m.attention(bias=PLAIN), reach=ma.window(3))
    blocks = [m.block([p, m.glu()], m.rms_norm()) for p in (turned, near)]
    return of_blocks(blocks, m.rms_norm(), tied=True)


SHORT, LONG = (1.0, 1.5), (2.0, 5.0)


def phi3():
    scaling = ma.longrope(SHORT, LONG, 8, gain=(1 + 1 / 3) ** 0.5)  # ln(16/8) / ln 8
    part = m.attention(bias=PLAIN, position=rotary(scaling=scaling, rotary_dim=ROPE_4))
    norm = m.rms_norm(eps=1e-5)
    return resize(
        widened(decoder([part, m.glu()], norm, tied=False)), {"d_model": 32, "head_dim": 8}
    )


def fused(name, w):
    """Phi-3 keeps q, k, v in one matrix, gate and up in another."""
    if "qkv_proj" in name:
        parts = zip("qkv", w.split((32, 16, 16)), strict=True)
        return {name.replace("qkv", part): rows for part, rows in parts}
    if "gate_up_proj" in name:
        parts = zip(("gate", "up"), w.chunk(2), strict=True)
        return {name.replace("gate_up", part): rows for part, rows in parts}
    return {name: w}


def stablelm():
    position = rotary(rotary_dim=ROPE_4)
    part = m.attention(bias=QKV, position=position, norm=ma.per_head_norm())
    wiring = {"wiring": Wiring.PARALLEL, "shared": True}
    model = decoder([part, m.glu()], m.layer_norm(), tied=False, **wiring)
    return resize(model, EIGHT)


def nemotron():
    norm = m.layer_norm(weight=NormWeight.ONE_PLUS)
    part = m.attention(bias=PLAIN, position=rotary(rotary_dim=ROPE_4))
    mlp = m.mlp(Activation.RELU_SQUARED, bias=False)
    return resize(decoder([part, mlp], norm, tied=False), {"head_dim": 8})


def gpt2_by_layer():
    narrow = m.sized(m.HEAD_DIM, 3)
    part = m.attention(n_kv_heads=m.N_HEADS, head_dim=narrow, fused=True)
    part = replace(part, scale_by_layer=True)
    inputs = m.token_input(position=m.learned(index=PositionIndex.ARANGE))
    return decoder([part, m.mlp(Activation.GELU_TANH)], m.layer_norm(), inputs=inputs)


def granite():
    part = m.attention(
        bias=PLAIN, position=rotary(), scale=Factor(Constant("attention_scale", 0.3))
    )
    block = m.block([part, m.glu()], m.rms_norm())
    factor = Constant("residual_multiplier", 0.22)
    block = replace(block, sublayers=tuple(replace(s, multiplier=factor) for s in block.sublayers))
    inputs = m.token_input(scale=Constant("embedding_scale", 12.0))
    model = of_blocks([block], m.rms_norm(), inputs=inputs, tied=True)
    return with_head(widened(model), out_scale=Constant("head_out_multiplier", 1 / 8))


def dynamic():
    part = m.attention(bias=PLAIN, position=rotary(scaling=ma.dynamic(4.0, 5)))
    return decoder([part, m.glu()], m.rms_norm(), tied=False)


DEFAULT = {"rope_type": "default", "rope_theta": 10000.0}
LAYERS = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 3}
COHERE_NAMES = LLAMA_NAMES | {"input_layernorm": "norm"}
CASES = {
    "mistral": Case(
        hf_model("Mistral", sliding_window=3, tie_word_embeddings=False), mistral, LLAMA_NAMES
    ),
    "gemma2": Case(
        hf_model(
            "Gemma2",
            query_pre_attn_scalar=5,
            attn_logit_softcapping=2.0,
            final_logit_softcapping=3.0,
            attn_implementation="eager",
            **LAYERS,
        ),
        gemma2,
        SANDWICH_NAMES,
    ),
    "gemma3": Case(
        hf_model(
            "Gemma3Text",
            query_pre_attn_scalar=5,
            rope_parameters={
                "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 10000.0},
            },
            **LAYERS,
        ),
        gemma3,
        SANDWICH_NAMES,
    ),
    "olmo": Case(
        hf_model("Olmo", hidden_size=WIDE, clip_qkv=0.5, tie_word_embeddings=False),
        olmo,
        LLAMA_NAMES,
    ),
    "cohere": Case(
        hf_model("Cohere", hidden_size=WIDE, use_qk_norm=True, rope_parameters=DEFAULT),
        cohere,
        COHERE_NAMES,
    ),
    "cohere2": Case(
        hf_model("Cohere2", logit_scale=0.25, rope_parameters=DEFAULT, **LAYERS),
        cohere2,
        COHERE_NAMES,
    ),
    "smollm3": Case(
        hf_model(
            "SmolLM3",
            rope_parameters=DEFAULT,
            no_rope_layers=[1, 0],
            use_sliding_window=True,
            sliding_window=3,
            layer_types=["full_attention", "sliding_attention"],
        ),
        smollm3,
        LLAMA_NAMES,
    ),
    **{
        f"phi3 of {length} tokens": Case(
            hf_model(
                "Phi3",
                rope_parameters={
                    "rope_type": "longrope",
                    "rope_theta": 10000.0,
                    "short_factor": list(SHORT),
                    "long_factor": list(LONG),
                    "partial_rotary_factor": 0.5,
                    "original_max_position_embeddings": 8,
                },
                original_max_position_embeddings=8,
                partial_rotary_factor=0.5,
                tie_word_embeddings=False,
                **WIDE_8,
            ),
            phi3,
            LLAMA_NAMES,
            fused,
            length=length,
            pads=(0, 2, 4),
        )
        for length in (8, 9)
    },
    "nemotron": Case(
        hf_model(
            "Nemotron",
            norm_eps=1e-5,
            partial_rotary_factor=0.5,
            tie_word_embeddings=False,
            head_dim=8,
            attn_implementation="eager",
        ),
        nemotron,
        LLAMA_NAMES,
    ),
    "stablelm": Case(
        hf_model(
            "StableLm",
            qk_layernorm=True,
            use_qkv_bias=True,
            use_parallel_residual=True,
            layer_norm_eps=1e-5,
            rope_parameters=DEFAULT | {"partial_rotary_factor": 0.5},
            tie_word_embeddings=False,
            **WIDE_8,
        ),
        stablelm,
        COHERE_NAMES | {r"([qk])_layernorm\.norms\.(\d)\.weight": r"\1_norm.\2"},
    ),
    "gpt2 by layer": Case(
        lambda: hf.GPT2LMHeadModel(
            hf.GPT2Config(**GPT2_SIZES, n_head=4, scale_attn_by_inverse_layer_idx=True)
        ),
        gpt2_by_layer,
        GPT2_NAMES,
        transposed,
        columns=True,
    ),
    "granite": Case(
        hf_model(
            "Granite",
            hidden_size=WIDE,
            embedding_multiplier=12.0,
            residual_multiplier=0.22,
            attention_multiplier=0.3,
            logits_scaling=8.0,
            tie_word_embeddings=True,
        ),
        granite,
        LLAMA_NAMES,
    ),
    "dynamic": Case(
        hf_model(
            "Llama",
            rope_parameters={"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0},
            max_position_embeddings=5,
            tie_word_embeddings=False,
        ),
        dynamic,
        LLAMA_NAMES,
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_decoder(name, lifted):
    CASES[name].check(lifted)
