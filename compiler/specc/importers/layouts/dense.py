"""How dense decoders of the Llama kind are stored: one map a tensor, or a few in one."""

from __future__ import annotations

from specc.importers.layouts.entries import (
    ATTENTION,
    FEED_FORWARD,
    OTHER_MODALITIES,
    OUTSIDE,
    POST_NORMS,
    PRE_NORMS,
    ROTARY_TABLES,
    SANDWICH_NORMS,
    TIED_HEAD,
    entry,
    layer,
)
from specc.ir.layers import NormWeight
from specc.ir.positions import RotaryLayout
from specc.weights import Arrangement, Entry, Layout

INTERLEAVED = RotaryLayout.INTERLEAVED
TWO_MAPS = (
    layer("mlp.fc1.{kind}", "feed_forward.up_proj.{kind}"),
    layer("mlp.fc2.{kind}", "feed_forward.down_proj.{kind}"),
)
GATE_UP = (
    layer(
        "mlp.gate_up_proj.{kind}",
        "feed_forward.gate_proj.{kind}",
        "feed_forward.up_proj.{kind}",
        fused=Arrangement.BLOCKS,
    ),
    layer("mlp.down_proj.{kind}", "feed_forward.down_proj.{kind}"),
)


def dense(name: str, *entries: Entry, pairs: RotaryLayout = RotaryLayout.HALF) -> Layout:
    """A layout with an embedding, a final norm and a head of the usual names."""
    return Layout(
        name,
        (*OUTSIDE, *entries),
        copies=TIED_HEAD,
        dropped=ROTARY_TABLES,
        prefixes=("model.",),
        pairs=pairs,
    )


LLAMA = dense("llama", *PRE_NORMS, *ATTENTION, *FEED_FORWARD)
COHERE = dense("cohere", *PRE_NORMS, *ATTENTION, *FEED_FORWARD, pairs=INTERLEAVED)
OLMO2 = dense("olmo2", *POST_NORMS, *ATTENTION, *FEED_FORWARD)
STARCODER2 = dense(
    "starcoder2",
    *PRE_NORMS,
    *ATTENTION,
    layer("mlp.c_fc.{kind}", "feed_forward.up_proj.{kind}"),
    layer("mlp.c_proj.{kind}", "feed_forward.down_proj.{kind}"),
)
STABLELM = dense(
    "stablelm",
    *PRE_NORMS,
    *ATTENTION[:4],
    # A gain for each head, in a module of its own
    layer("self_attn.q_layernorm.norms.{head}.weight", "attention.q_norm.weight"),
    layer("self_attn.k_layernorm.norms.{head}.weight", "attention.k_norm.weight"),
    *FEED_FORWARD,
)
GEMMA2 = Layout(
    "gemma2",
    (*OUTSIDE, *SANDWICH_NORMS, *ATTENTION, *FEED_FORWARD),
    copies=TIED_HEAD,
    dropped=(*ROTARY_TABLES, *OTHER_MODALITIES),
    prefixes=("model.", "language_model."),
    gains=NormWeight.ONE_PLUS,
)
GLM4 = dense(
    "glm4",
    layer("input_layernorm.{kind}", "attention_norm.{kind}"),
    layer("post_self_attn_layernorm.{kind}", "attention_post_norm.{kind}"),
    layer("post_attention_layernorm.{kind}", "feed_forward_norm.{kind}"),
    layer("post_mlp_layernorm.{kind}", "feed_forward_post_norm.{kind}"),
    *ATTENTION,
    *GATE_UP,
    pairs=INTERLEAVED,
)
PHI3 = dense(
    "phi3",
    *PRE_NORMS,
    layer(
        "self_attn.qkv_proj.{kind}",
        *(f"attention.{part}_proj.{{kind}}" for part in "qkv"),
        fused=Arrangement.BLOCKS,
    ),
    layer("self_attn.o_proj.{kind}", "attention.o_proj.{kind}"),
    *GATE_UP,
)
PHI = Layout(
    "phi",
    (
        entry("model.embed_tokens.weight", "embedding.weight"),
        entry("model.final_layernorm.{kind}", "norm.{kind}"),
        entry("lm_head.{kind}", "head.{kind}"),
        layer("input_layernorm.{kind}", "norm.{kind}"),
        *ATTENTION[:3],
        layer("self_attn.dense.{kind}", "attention.o_proj.{kind}"),
        layer("self_attn.q_layernorm.{kind}", "attention.q_norm.{kind}"),
        layer("self_attn.k_layernorm.{kind}", "attention.k_norm.{kind}"),
        *TWO_MAPS,
    ),
    copies=TIED_HEAD,
    dropped=ROTARY_TABLES,
    prefixes=("model.",),
)
