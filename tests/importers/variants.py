"""Small models of every dialect in the variants that the published configs do not show."""

from __future__ import annotations

from typing import Any

_PLAIN = {
    "vocab_size": 96,
    "hidden_size": 64,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 80,
    "max_position_embeddings": 128,
}
_GROUPED = {**_PLAIN, "num_key_value_heads": 2}
_GPT = {"vocab_size": 96, "n_embd": 64, "n_layer": 3, "n_head": 4, "n_positions": 64}
_OPT = {
    "vocab_size": 96,
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "ffn_dim": 80,
    "max_position_embeddings": 64,
    "word_embed_proj_dim": 64,
}
_FALCON = {
    "vocab_size": 96,
    "hidden_size": 64,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
}
_NEW_FALCON = {**_FALCON, "num_kv_heads": 2, "new_decoder_architecture": True}
_LATENT = {
    **_PLAIN,
    "num_key_value_heads": 4,
    "q_lora_rank": 32,
    "kv_lora_rank": 16,
    "qk_nope_head_dim": 12,
    "qk_rope_head_dim": 8,
    "v_head_dim": 20,
}
_MANY = {
    "n_routed_experts": 8,
    "n_shared_experts": 2,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 24,
}
_SMALL_EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 24}
_LLAMA4 = {
    **_GROUPED,
    "head_dim": 24,
    "intermediate_size_mlp": 100,
    "num_local_experts": 4,
    "num_experts_per_tok": 1,
    "attention_chunk_size": 16,
    "floor_scale": 8,
}
_OSS = {**_GROUPED, "head_dim": 24, "num_local_experts": 4, "num_experts_per_tok": 2}
_STILL = {"rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}}
_WINDOW = {"use_sliding_window": True, "sliding_window": 16}
_FULL = ["full_attention"] * 4
_LONG = {"type": "longrope", "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("gpt2", {**_GPT, "n_inner": 100}),
    ("gpt2", {**_GPT, "scale_attn_by_inverse_layer_idx": True, "tie_word_embeddings": False}),
    ("gpt_neox", {**_PLAIN, "use_parallel_residual": False, "attention_bias": False}),
    ("gptj", {**_GPT, "rotary_dim": 6}),
    ("opt", _OPT),
    ("opt", {**_OPT, "word_embed_proj_dim": 32, "enable_bias": False}),
    ("opt", {**_OPT, "layer_norm_elementwise_affine": False}),
    ("opt", {**_OPT, "_remove_final_layer_norm": True}),
    (
        "bloom",
        {
            "vocab_size": 96,
            "hidden_size": 64,
            "n_layer": 3,
            "n_head": 4,
            "apply_residual_connection_post_layernorm": True,
        },
    ),
    (
        "mpt",
        {
            "vocab_size": 96,
            "d_model": 64,
            "n_layers": 3,
            "n_heads": 4,
            "attn_config": {"clip_qkv": 3.0, "softmax_scale": 0.3},
        },
    ),
    ("falcon", {**_FALCON, "multi_query": False, "bias": True}),
    ("falcon", {**_FALCON, "multi_query": False, "parallel_attn": False}),
    ("falcon", {**_NEW_FALCON, "num_ln_in_parallel_attn": 1}),
    ("falcon", {**_NEW_FALCON, "ffn_hidden_size": 100}),
    ("llama", {**_GROUPED, "attention_bias": True, "mlp_bias": True, "head_dim": 24}),
    ("mistral", {**_GROUPED, "sliding_window": None}),
    ("mistral", {**_GROUPED, "sliding_window": 16}),
    (
        "mixtral",
        {**_GROUPED, "sliding_window": 16, "num_local_experts": 4, "num_experts_per_tok": 2},
    ),
    ("qwen2", {**_GROUPED, **_WINDOW, "max_window_layers": 2}),
    ("qwen3", {**_GROUPED, **_WINDOW, "max_window_layers": 2, "attention_bias": True}),
    ("qwen2_moe", {**_GROUPED, **_SMALL_EXPERTS, "shared_expert_intermediate_size": 40}),
    (
        "qwen2_moe",
        {
            **_GROUPED,
            **_SMALL_EXPERTS,
            **_WINDOW,
            "shared_expert_intermediate_size": 40,
            "max_window_layers": 3,
            "mlp_only_layers": [1],
            "qkv_bias": False,
            "norm_topk_prob": True,
        },
    ),
    ("qwen3_moe", {**_GROUPED, **_SMALL_EXPERTS, "decoder_sparse_step": 2, "head_dim": 24}),
    ("qwen3_moe", {**_GROUPED, **_SMALL_EXPERTS, **_WINDOW, "mlp_only_layers": [0]}),
    ("gemma", {**_GROUPED, "head_dim": 24, "hidden_act": "gelu"}),
    (
        "gemma2",
        {
            **_GROUPED,
            "head_dim": 24,
            "query_pre_attn_scalar": 30,
            "sliding_window": 16,
            "final_logit_softcapping": None,
        },
    ),
    (
        "gemma3_text",
        {
            **_GROUPED,
            "head_dim": 24,
            "layer_types": ["full_attention", "sliding_attention"] * 2,
            "final_logit_softcapping": 20.0,
            "sliding_window": 16,
        },
    ),
    ("phi", {**_GROUPED, "qk_layernorm": True}),
    ("phi3", {**_GROUPED, "sliding_window": 16}),
    (
        "phi3",
        {
            **_GROUPED,
            "partial_rotary_factor": 0.5,
            "original_max_position_embeddings": 64,
            "rope_scaling": _LONG,
        },
    ),
    ("olmo", {**_GROUPED, "clip_qkv": 3.0, "attention_bias": True}),
    ("olmo2", {**_GROUPED, "attention_bias": True}),
    ("olmo3", {**_GROUPED, "layer_types": _FULL}),
    ("olmo3", {**_GROUPED, "sliding_window": 16}),
    (
        "stablelm",
        {**_GROUPED, "use_parallel_residual": True, "qk_layernorm": True, "use_qkv_bias": True},
    ),
    ("stablelm", {**_GROUPED, "qk_layernorm": True}),
    ("starcoder2", {**_GROUPED, "use_bias": False, "sliding_window": None}),
    ("starcoder2", {**_GROUPED, "sliding_window": 16}),
    ("cohere", {**_GROUPED, "use_qk_norm": True, "logit_scale": 1.0}),
    ("cohere2", {**_GROUPED, "sliding_window": 16, "layer_types": _FULL}),
    ("cohere2", {**_GROUPED, "sliding_window": 16, "sliding_window_pattern": 2}),
    ("granite", {**_GROUPED, "mlp_bias": True}),
    ("smollm3", {**_GROUPED, **_WINDOW, "no_rope_layer_interval": 2}),
    ("smollm3", {**_GROUPED, "no_rope_layers": [1, 1, 0, 0]}),
    (
        "deepseek_v2",
        {
            **_LATENT,
            **_MANY,
            "first_k_dense_replace": 1,
            "topk_method": "group_limited_greedy",
            "n_group": 4,
            "topk_group": 2,
            "routed_scaling_factor": 2.0,
            "attention_bias": True,
        },
    ),
    (
        "deepseek_v3",
        {
            **_LATENT,
            **_MANY,
            "q_lora_rank": None,
            "first_k_dense_replace": 0,
            "n_group": 2,
            "topk_group": 1,
            "norm_topk_prob": False,
            "rope_interleave": False,
        },
    ),
    ("gpt_oss", {**_OSS, **_STILL, "layer_types": _FULL, "swiglu_limit": 5.0}),
    ("gpt_oss", {**_OSS, **_STILL, "attention_bias": False, "sliding_window": 16}),
    (
        "glm4",
        {**_GROUPED, "head_dim": 24, "attention_bias": False, "partial_rotary_factor": 1.0},
    ),
    ("minicpm3", _LATENT),
    ("nemotron", {**_GROUPED, "head_dim": 24, "attention_bias": True, "mlp_bias": True}),
    ("exaone4", {**_GROUPED, "sliding_window": None, "layer_types": _FULL}),
    (
        "exaone4",
        {**_GROUPED, "sliding_window": 16, "sliding_window_pattern": 2, "head_dim": 24},
    ),
    (
        "llama4_text",
        {
            **_LLAMA4,
            "interleave_moe_layer_step": 2,
            "use_qk_norm": False,
            "attn_temperature_tuning": False,
        },
    ),
    ("llama4_text", {**_LLAMA4, "moe_layers": [1], "attention_chunk_size": None}),
    ("bert", {**_PLAIN, "type_vocab_size": 3, "architectures": ["BertForMaskedLM"]}),
    ("bert", {**_PLAIN, "architectures": ["BertForPreTraining"]}),
]
