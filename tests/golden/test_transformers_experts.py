"""The golden library against transformers' mixtures of experts and latent attentions."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from specc.ir.feed_forward import Apply, GroupFill, GroupScore, Score
from specc.ir.layers import Cast
from specc.ir.positions import RotaryLayout
from specc.ir.sizes import Constant
from specc.ir.walk import resize
from tests.golden import models as m
from tests.golden import models_attention as ma
from tests.golden import models_experts as mx
from tests.golden.foreign import (
    LLAMA_NAMES,
    LLAMA_SIZES,
    WIDE,
    Case,
    decoder,
    hf_model,
    of_blocks,
    widened,
)
from tests.golden.test_transformers_attention import with_head

PLAIN = (False,) * 4
NORM = m.rms_norm()
EXPERT_SIZES = {
    "num_experts_per_tok": mx.TOP_K.value,
    "moe_intermediate_size": mx.EXPERT_D_FF.value,
    "tie_word_embeddings": False,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0},
    "rms_norm_eps": 1e-6,
    "experts_implementation": "eager",
}
LOCAL = EXPERT_SIZES | {"num_local_experts": mx.N_EXPERTS.value}
NAMED = EXPERT_SIZES | {"num_experts": mx.N_EXPERTS.value}
EXPERT_NAMES = {
    r"mlp\.gate\.e_score_correction_bias": "mlp.selection_bias",
    r"mlp\.gate\.": "mlp.router.",
    r"mlp\.shared_expert_gate": "mlp.shared_gate",
    r"(mlp|feed_forward)\.shared_experts?\.": "mlp.shared.",
    r"(mlp|feed_forward)\.experts\.": "mlp.",
} | LLAMA_NAMES
LATENT_NAMES = EXPERT_NAMES | {
    "q_a_proj": "q_down_proj",
    "q_a_layernorm": "q_norm",
    "q_b_proj": "q_up_proj",
    "kv_a_proj_with_mqa": "kv_down_proj",
    "kv_a_layernorm": "kv_norm",
    "kv_b_proj": "kv_up_proj",
}


def gate_then_up(name, w):
    """[X, 2F, D]: all of the gate's rows, then all of the other map's."""
    if "gate_up_proj" not in name:
        return {name: w}
    gate, up = w.chunk(2, 1)
    return {name.replace("gate_up", "gate"): gate, name.replace("gate_up", "up"): up}


def gate_and_up_interleaved(name, w):
    """[X, D, 2F]: a column of the gate, a column of the other map, and so on."""
    if w.ndim == 3:
        w = w.transpose(1, 2)
    if "gate_up_proj" not in name:
        return {name: w}
    halves = {"gate": w[:, 0::2], "up": w[:, 1::2]}
    return {name.replace("gate_up", half): rows for half, rows in halves.items()}


def inputs_first(name, w):
    """[X, D, 2F]: the halves beside each other."""
    return gate_then_up(name, w.transpose(1, 2) if w.ndim == 3 else w)


def attention(**more):
    return m.attention(bias=more.pop("bias", PLAIN), position=m.rotary(), **more)


def mixtral():
    router = mx.router(renormalise=True)
    return decoder([attention(), mx.mixture(router)], NORM, tied=False)


def qwen2_moe():
    part = mx.mixture(mx.router(), shared_part=mx.shared(gate=True))
    bias = (True, True, True, False)
    return widened(decoder([attention(bias=bias), part], NORM, tied=False))


def qwen3_moe():
    part = attention(norm=m.qk_norm())
    bodies = [m.glu(), mx.mixture(mx.router(renormalise=True))]
    return of_blocks([m.block([part, body], NORM) for body in bodies], NORM)


def olmoe():
    part = attention(norm=m.qk_norm(m.NormOver.FULL))
    model = decoder([part, mx.mixture(mx.router())], NORM, tied=False)
    return resize(widened(model), {"expert_d_ff": m.D_FF.value})


def gpt_oss():
    scaling = ma.yarn(8.0, 64, gain=0.1 * math.log(8) + 1, truncate=False)
    far = m.attention(position=m.rotary(scaling=scaling, theta=150.0))
    far = replace(far, sinks=ma.sinks())
    experts = mx.experts(bias=True, clamp=mx.clamp(limit=0.7))
    part = mx.mixture(mx.router(Score.TOPK_SOFTMAX, bias=True), experts)
    norm = m.rms_norm(cast=Cast.AFTER_WEIGHT)
    near = replace(far, reach=ma.window(3))
    return resize(
        of_blocks([m.block([p, part], norm) for p in (near, far)], norm),
        {"expert_d_ff": m.D_FF.value},
    )


def mscale(factor, s):
    return 0.1 * s * math.log(factor) + 1


YARN = ma.yarn(8.0, 32, gain=mscale(8, 1.0) / mscale(8, 0.6), beta_fast=8.0, beta_slow=1.0)
YARN_CONFIG = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "mscale": 1.0,
    "mscale_all_dim": 0.6,
    "original_max_position_embeddings": 32,
    "beta_fast": 8.0,
    "beta_slow": 1.0,
}
DEEPSEEK = EXPERT_SIZES | {
    "head_dim": ma.ROPE_DIM.value,
    "num_key_value_heads": m.N_HEADS.value,
    "n_routed_experts": mx.N_EXPERTS.value,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
    "qk_nope_head_dim": ma.NOPE_DIM.value,
    "qk_rope_head_dim": ma.ROPE_DIM.value,
    "v_head_dim": ma.VALUE_DIM.value,
    "kv_lora_rank": ma.KV_RANK.value,
    "q_lora_rank": ma.Q_RANK.value,
    "rope_parameters": YARN_CONFIG,
    "routed_scaling_factor": 1.5,
}


def deepseek(router, **more):
    """A dense layer, then one of experts that share one of twice their width."""
    part = ma.latent(scaling=YARN, multiplier=mscale(8, 0.6) ** 2, **more)
    bodies = [m.glu(), mx.mixture(router, shared_part=mx.shared())]
    model = of_blocks([m.block([part, body], NORM) for body in bodies], NORM)
    return resize(model, {"shared_d_ff": 2 * mx.EXPERT_D_FF.value})


def deepseek_v2():
    groups = mx.groups(4, 2, GroupScore.MAX, GroupFill.ZERO)
    return deepseek(mx.router(groups=groups, scale=1.5))


def deepseek_v2_lite():
    return deepseek(mx.router(scale=1.5), low_rank=False)


def deepseek_v3():
    router = mx.router(
        Score.SIGMOID,
        selection_bias=True,
        groups=mx.groups(2, 1),
        renormalise=True,
        renorm_eps=1e-20,
        scale=1.5,
    )
    return deepseek(router, bias=True)


def minicpm3():
    part = ma.latent(layout=RotaryLayout.HALF, eps=1e-6)
    block = m.block([part, m.glu()], NORM)
    factor = Constant("residual_multiplier", 1.4 / math.sqrt(2))
    block = replace(block, sublayers=tuple(replace(s, multiplier=factor) for s in block.sublayers))
    inputs = m.token_input(scale=Constant("embedding_scale", 12.0))
    model = of_blocks([block], NORM, inputs=inputs, tied=True)
    return with_head(model, in_scale=Constant("head_in_multiplier", 5 / m.D_MODEL.value))


def llama4(scale=0.5):
    """A layer that turns and looks at its chunk, then one that does neither."""
    near = m.attention(
        bias=PLAIN,
        position=m.rotary(layout=RotaryLayout.INTERLEAVED),
        norm=ma.plain_norm_after_turn(),
    )
    near = replace(near, reach=ma.chunk(4))
    far = replace(m.attention(bias=PLAIN), temperature=ma.temperature(2.0, scale))
    router = mx.router(Score.SIGMOID, apply=Apply.INPUT)
    experts = mx.mixture(router, shared_part=mx.shared())
    blocks = [m.block([near, experts], NORM), m.block([far, m.glu()], NORM)]
    model = of_blocks(blocks, NORM)
    width = mx.EXPERT_D_FF.value
    return resize(model, {"shared_d_ff": width})


def hf_llama4(scale):
    return hf_model(
        "Llama4Text",
        **{name: value for name, value in LOCAL.items() if name != "moe_intermediate_size"}
        | {"intermediate_size": mx.EXPERT_D_FF.value},
        intermediate_size_mlp=m.D_FF.value,
        no_rope_layers=[1, 0],
        moe_layers=[0],
        attention_chunk_size=4,
        floor_scale=2,
        attn_scale=scale,
    )


CASES = {
    "mixtral": Case(
        hf_model(
            "Mixtral",
            sizes=LLAMA_SIZES | LOCAL | {"intermediate_size": mx.EXPERT_D_FF.value},
            sliding_window=None,
        ),
        mixtral,
        EXPERT_NAMES,
        gate_then_up,
    ),
    "qwen2_moe": Case(
        hf_model(
            "Qwen2Moe",
            **NAMED,
            hidden_size=WIDE,
            shared_expert_intermediate_size=mx.SHARED_D_FF.value,
            norm_topk_prob=False,
        ),
        qwen2_moe,
        EXPERT_NAMES,
        gate_then_up,
    ),
    "qwen3_moe": Case(
        hf_model("Qwen3Moe", **NAMED, norm_topk_prob=True, mlp_only_layers=[0]),
        qwen3_moe,
        EXPERT_NAMES,
        gate_then_up,
    ),
    "olmoe": Case(
        hf_model("Olmoe", **NAMED, hidden_size=WIDE, norm_topk_prob=False),
        olmoe,
        EXPERT_NAMES,
        gate_then_up,
    ),
    "gpt_oss": Case(
        hf_model(
            "GptOss",
            sizes=LLAMA_SIZES
            | LOCAL
            | {
                "attn_implementation": "eager",
                "rope_parameters": {
                    "rope_type": "yarn",
                    "rope_theta": 150.0,
                    "factor": 8.0,
                    "original_max_position_embeddings": 64,
                    "truncate": False,
                },
            },
            sliding_window=3,
            swiglu_limit=0.7,
            layer_types=["sliding_attention", "full_attention"],
        ),
        gpt_oss,
        EXPERT_NAMES,
        gate_and_up_interleaved,
    ),
    "deepseek_v2": Case(
        hf_model(
            "DeepseekV2", **DEEPSEEK, topk_method="group_limited_greedy", n_group=4, topk_group=2
        ),
        deepseek_v2,
        LATENT_NAMES,
        gate_then_up,
    ),
    "deepseek_v2_lite": Case(
        hf_model("DeepseekV2", **DEEPSEEK | {"q_lora_rank": None}, topk_method="greedy"),
        deepseek_v2_lite,
        LATENT_NAMES,
        gate_then_up,
    ),
    "deepseek_v3": Case(
        hf_model("DeepseekV3", **DEEPSEEK, n_group=2, topk_group=1, attention_bias=True),
        deepseek_v3,
        LATENT_NAMES,
        gate_then_up,
    ),
    "minicpm3": Case(
        hf_model(
            "MiniCPM3",
            **{
                name: DEEPSEEK[name]
                for name in DEEPSEEK
                if name.startswith(("qk_", "v_", "kv_", "q_", "num_key"))
            },
            rope_parameters=LOCAL["rope_parameters"],
            rms_norm_eps=1e-6,
            scale_emb=12,
            scale_depth=1.4,
            dim_model_base=5,
            tie_word_embeddings=True,
        ),
        minicpm3,
        LATENT_NAMES,
    ),
    "llama4": Case(hf_llama4(0.5), llama4, EXPERT_NAMES, inputs_first, pads=(0, 0, 0)),
    "llama4 with padding": Case(hf_llama4(0.0), lambda: llama4(0.0), EXPERT_NAMES, inputs_first),
}


@pytest.mark.parametrize("name", list(CASES))
def test_decoder(name, lifted):
    CASES[name].check(lifted)
