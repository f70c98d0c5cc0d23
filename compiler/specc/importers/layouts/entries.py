"""Entries that several layouts share, and a short way of writing them."""

from __future__ import annotations

from specc.weights import Arrangement, Copy, Dropped, Entry

COMPUTED = "a table of frequencies: the file computes it"
MASK = "a causal mask kept beside the weights: the file computes it"
NO_HEAD = "the spec has no head that reads it"


def entry(
    theirs: str, *ours: str, fused: Arrangement | None = None, transposed: bool = False
) -> Entry:
    """One published tensor and what of ours it holds."""
    return Entry(theirs, ours, fused, transposed)


def layer(
    theirs: str, *ours: str, fused: Arrangement | None = None, transposed: bool = False
) -> Entry:
    """The same for a tensor of `model.layers.{layer}`."""
    paths = tuple(f"layers.{{layer}}.{path}" for path in ours)
    return Entry(f"model.layers.{{layer}}.{theirs}", paths, fused, transposed)


OUTSIDE = (
    entry("model.embed_tokens.weight", "embedding.weight"),
    entry("model.norm.{kind}", "norm.{kind}"),
    entry("lm_head.{kind}", "head.{kind}"),
)
TIED_HEAD = (Copy("lm_head.weight", "embedding.weight"),)
ATTENTION = (
    *(
        layer(f"self_attn.{name}.{{kind}}", f"attention.{name}.{{kind}}")
        for name in ("q_proj", "k_proj", "v_proj", "o_proj")
    ),
    layer("self_attn.q_norm.{kind}", "attention.q_norm.{kind}"),
    layer("self_attn.k_norm.{kind}", "attention.k_norm.{kind}"),
)
FEED_FORWARD = tuple(
    layer(f"mlp.{name}.{{kind}}", f"feed_forward.{name}.{{kind}}")
    for name in ("gate_proj", "up_proj", "down_proj")
)
PRE_NORMS = (
    layer("input_layernorm.{kind}", "attention_norm.{kind}"),
    layer("input_layernorm.{kind}", "norm.{kind}"),  # one norm for parallel sublayers
    layer("post_attention_layernorm.{kind}", "feed_forward_norm.{kind}"),
)
POST_NORMS = (
    layer("post_attention_layernorm.{kind}", "attention_norm.{kind}"),
    layer("post_feedforward_layernorm.{kind}", "feed_forward_norm.{kind}"),
)
SANDWICH_NORMS = (
    layer("input_layernorm.{kind}", "attention_norm.{kind}"),
    layer("post_attention_layernorm.{kind}", "attention_post_norm.{kind}"),
    layer("pre_feedforward_layernorm.{kind}", "feed_forward_norm.{kind}"),
    layer("post_feedforward_layernorm.{kind}", "feed_forward_post_norm.{kind}"),
)
EXPERTS = (
    layer("mlp.gate.{kind}", "feed_forward.router.{kind}"),
    layer("mlp.gate.e_score_correction_bias", "feed_forward.selection_bias"),
    *(
        layer(f"mlp.experts.{{expert}}.{name}.weight", f"feed_forward.{name}")
        for name in ("gate_proj", "up_proj", "down_proj")
    ),
    *(
        layer(f"mlp.{theirs}.{name}.{{kind}}", f"feed_forward.shared.{name}.{{kind}}")
        for theirs in ("shared_experts",)
        for name in ("gate_proj", "up_proj", "down_proj")
    ),
)
ROTARY_TABLES = (
    Dropped("model.layers.{layer}.self_attn.rotary_emb.inv_freq", COMPUTED),
    Dropped("model.rotary_emb.inv_freq", COMPUTED),
)
OTHER_MODALITIES = (
    Dropped("vision_tower.{any}", "the spec describes the text model alone"),
    Dropped("vision_model.{any}", "the spec describes the text model alone"),
    Dropped("multi_modal_projector.{any}", "the spec describes the text model alone"),
)
