"""How decoders with experts are stored: a tensor for each expert, or all in one."""

from __future__ import annotations

from dataclasses import replace

from specc.importers.layouts.dense import dense
from specc.importers.layouts.entries import (
    ATTENTION,
    EXPERTS,
    FEED_FORWARD,
    OTHER_MODALITIES,
    PRE_NORMS,
    ROTARY_TABLES,
    layer,
)
from specc.ir.positions import RotaryLayout
from specc.weights import Arrangement, Dropped

GATE_AND_UP = ("feed_forward.gate_proj", "feed_forward.up_proj")

MIXTRAL = dense(
    "mixtral",
    *PRE_NORMS,
    *ATTENTION,
    layer("block_sparse_moe.gate.{kind}", "feed_forward.router.{kind}"),
    layer("block_sparse_moe.experts.{expert}.w1.weight", "feed_forward.gate_proj"),
    layer("block_sparse_moe.experts.{expert}.w3.weight", "feed_forward.up_proj"),
    layer("block_sparse_moe.experts.{expert}.w2.weight", "feed_forward.down_proj"),
)
QWEN3_MOE = dense("qwen3_moe", *PRE_NORMS, *ATTENTION, *FEED_FORWARD, *EXPERTS)
QWEN2_MOE = dense(
    "qwen2_moe",
    *QWEN3_MOE.entries[3:-3],
    *(
        layer(f"mlp.shared_expert.{name}.{{kind}}", f"feed_forward.shared.{name}.{{kind}}")
        for name in ("gate_proj", "up_proj", "down_proj")
    ),
    layer("mlp.shared_expert_gate.{kind}", "feed_forward.shared_gate.{kind}"),
)
_LATENT = (
    layer("self_attn.q_proj.{kind}", "attention.q_proj.{kind}"),
    layer("self_attn.q_a_proj.{kind}", "attention.q_down_proj.{kind}"),
    layer("self_attn.q_a_layernorm.{kind}", "attention.q_norm.{kind}"),
    layer("self_attn.q_b_proj.{kind}", "attention.q_up_proj.{kind}"),
    layer("self_attn.kv_a_proj_with_mqa.{kind}", "attention.kv_down_proj.{kind}"),
    layer("self_attn.kv_a_layernorm.{kind}", "attention.kv_norm.{kind}"),
    layer("self_attn.kv_b_proj.{kind}", "attention.kv_up_proj.{kind}"),
    layer("self_attn.o_proj.{kind}", "attention.o_proj.{kind}"),
)
MINICPM3 = dense("minicpm3", *PRE_NORMS, *_LATENT, *FEED_FORWARD)
DEEPSEEK = replace(
    dense(
        "deepseek",
        *PRE_NORMS,
        *_LATENT,
        *FEED_FORWARD,
        *EXPERTS,
        pairs=RotaryLayout.INTERLEAVED,
    ),
    dropped=(
        *ROTARY_TABLES,
        Dropped(
            "model.layers.{beyond}.{any}",
            "a layer of multi-token prediction: no part of the model that predicts the next one",
        ),
    ),
)
# Configs with rope_interleave: false
DEEPSEEK_HALF = replace(DEEPSEEK, name="deepseek_half", pairs=RotaryLayout.HALF)
GPT_OSS = dense(
    "gpt_oss",
    *PRE_NORMS,
    *ATTENTION[:4],
    layer("self_attn.sinks", "attention.sinks"),
    layer("mlp.router.{kind}", "feed_forward.router.{kind}"),
    layer(
        "mlp.experts.gate_up_proj",
        *GATE_AND_UP,
        fused=Arrangement.INTERLEAVED,
        transposed=True,
    ),
    layer(
        "mlp.experts.gate_up_proj_bias",
        *(f"{name}_bias" for name in GATE_AND_UP),
        fused=Arrangement.INTERLEAVED,
    ),
    layer("mlp.experts.down_proj", "feed_forward.down_proj", transposed=True),
    layer("mlp.experts.down_proj_bias", "feed_forward.down_proj_bias"),
)
LLAMA4 = replace(
    dense(
        "llama4",
        *PRE_NORMS,
        *ATTENTION,
        layer("feed_forward.router.{kind}", "feed_forward.router.{kind}"),
        layer(
            "feed_forward.experts.gate_up_proj",
            *GATE_AND_UP,
            fused=Arrangement.BLOCKS,
            transposed=True,
        ),
        layer("feed_forward.experts.down_proj", "feed_forward.down_proj", transposed=True),
        *(
            layer(f"feed_forward.{theirs}{name}.{{kind}}", f"feed_forward.{ours}{name}.{{kind}}")
            for theirs, ours in (("", ""), ("shared_expert.", "shared."))
            for name in ("gate_proj", "up_proj", "down_proj")
        ),
        pairs=RotaryLayout.INTERLEAVED,
    ),
    dropped=(*ROTARY_TABLES, *OTHER_MODALITIES),
    prefixes=("model.", "language_model."),
)
