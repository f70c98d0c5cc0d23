"""Configs of decoders with experts or latent attention."""

from __future__ import annotations

from fractions import Fraction
from math import lcm, sqrt

from specc.importers.hf_configs.dense import MANY, biases, rms, scaled
from specc.importers.hf_configs.dialect import Dialect, Sizes, divisible
from specc.importers.hf_configs.facts import Facts
from specc.importers.hf_configs.rope import mscale_all_dim, rope
from specc.ir.attention import Chunk, LowRank, PositionTemperature
from specc.ir.feed_forward import GroupScore, MixtureOfExperts
from specc.ir.positions import YarnScaling


def _routed(f: Facts) -> dict[str, object]:
    router = f.experts.router
    return {
        "num_experts_per_tok": router.top_k.value,
        "moe_intermediate_size": f.experts.experts.d_ff.value,
        "norm_topk_prob": router.renormalise,
    }


def _dense_layers(f: Facts) -> list[int]:
    parts = enumerate(f.feed_forwards)
    return [i for i, part in parts if not isinstance(part, MixtureOfExperts)]


def _mixtral(f: Facts) -> dict[str, object]:
    return rms(f) | {
        "num_local_experts": f.experts.router.n_experts.value,
        "num_experts_per_tok": f.experts.router.top_k.value,
        "sliding_window": f.window,
    }


def _qwen_moe(f: Facts) -> dict[str, object]:
    return (
        rms(f)
        | _routed(f)
        | {
            "num_experts": f.experts.router.n_experts.value,
            "mlp_only_layers": _dense_layers(f),
            "decoder_sparse_step": 1,
            "use_sliding_window": f.window is not None,
            "sliding_window": f.window,
        }
    )


def _qwen3_moe(f: Facts) -> dict[str, object]:
    return _qwen_moe(f) | {"attention_bias": biases(f)[0]}


def _qwen2_moe(f: Facts) -> dict[str, object]:
    shared = f.experts.shared
    width = 0 if shared is None else shared.body.d_ff.value
    return _qwen_moe(f) | {
        "shared_expert_intermediate_size": width,
        "qkv_bias": biases(f)[0],
        "layer_types": f.layer_types,
    }


def _gpt_oss(f: Facts) -> dict[str, object]:
    clamp = f.experts.experts.clamp
    window = MANY if f.window is None else f.window  # the class wants one, used or not
    return rms(f) | {
        "num_local_experts": f.experts.router.n_experts.value,
        "num_experts_per_tok": f.experts.router.top_k.value,
        "attention_bias": biases(f)[0],
        "sliding_window": window,
        "layer_types": f.layer_types,
        "swiglu_limit": None if clamp is None else clamp.limit.value,
    }


def _llama4(f: Facts) -> dict[str, object]:
    chunks = [a.reach.size.value for a in f.attentions if isinstance(a.reach, Chunk)]
    experts = f.experts.experts.d_ff.value
    dense = _dense_layers(f)
    found = rms(f) | {
        "intermediate_size": experts,
        "intermediate_size_mlp": f.dense.d_ff.value if dense else experts,
        "num_local_experts": f.experts.router.n_experts.value,
        "num_experts_per_tok": f.experts.router.top_k.value,
        "moe_layers": [i for i in range(f.n_layers) if i not in dense],
        "no_rope_layers": [int(rotary is not None) for rotary in f.rotaries],
        "attention_chunk_size": chunks[0] if chunks else None,
        "use_qk_norm": f.qk_norm is not None,
        "attention_bias": biases(f)[0],
    }
    part = _temperature(f)
    if part is None:
        return found | {"attn_temperature_tuning": False}
    return found | {
        "attn_temperature_tuning": True,
        "floor_scale": int(part.floor.value),
        "attn_scale": part.coefficient.value,
    }


def _temperature(f: Facts) -> PositionTemperature | None:
    return next((a.temperature for a in f.attentions if a.temperature is not None), None)


def _no_temperature(f: Facts) -> dict[str, float]:
    part = _temperature(f)
    return {} if part is None else {part.coefficient.name: 0.0}


def _latent(f: Facts) -> dict[str, object]:
    part = f.latent
    low = part.q if isinstance(part.q, LowRank) else None
    found: dict[str, object] = {
        "vocab_size": f.vocab_size,
        "hidden_size": f.d_model,
        "num_hidden_layers": f.n_layers,
        "num_attention_heads": part.n_heads.value,
        "num_key_value_heads": part.n_heads.value,
        "q_lora_rank": None if low is None else low.down.outputs.value,
        "kv_lora_rank": part.kv_rank.value,
        "qk_nope_head_dim": part.nope_dim.value,
        "qk_rope_head_dim": part.rotary_dim.value,
        "v_head_dim": part.value_dim.value,
        "intermediate_size": f.d_ff,
        "hidden_act": f.activation,
        "rms_norm_eps": f.eps,
        "max_position_embeddings": part.position.size.value,
        "attention_bias": part.kv_down.bias,
        "tie_word_embeddings": f.tied,
        "rope_parameters": rope(part.position),
    }
    multiplier, scaling = part.scale.multiplier, part.position.scaling
    if multiplier is not None and isinstance(scaling, YarnScaling):
        more = {"mscale_all_dim": mscale_all_dim(multiplier.value, scaling.factor.value)}
        found["rope_parameters"] = rope(part.position) | more
    return found


def _deepseek(f: Facts) -> dict[str, object]:
    router, shared = f.experts.router, f.experts.shared
    width = f.experts.experts.d_ff.value
    groups = router.groups
    return (
        _latent(f)
        | _routed(f)
        | {
            "n_routed_experts": router.n_experts.value,
            "n_shared_experts": None if shared is None else shared.body.d_ff.value // width,
            "first_k_dense_replace": len(_dense_layers(f)),
            "routed_scaling_factor": 1.0 if router.scale is None else router.scale.value,
            "n_group": 1 if groups is None else groups.n_groups.value,
            "topk_group": 1 if groups is None else groups.n_kept.value,
        }
    )


def _halves(f: Facts) -> dict[str, object]:
    return _deepseek(f) | {"rope_interleave": False}


def _deepseek_v2(f: Facts) -> dict[str, object]:
    groups = f.experts.router.groups
    limited = groups is not None and groups.score is GroupScore.MAX
    return _deepseek(f) | {"topk_method": "group_limited_greedy" if limited else "greedy"}


def _minicpm3(f: Facts) -> dict[str, object]:
    scale = f.head.in_scale
    return _latent(f) | {
        "scale_emb": scaled(f.input.scale),
        "scale_depth": (f.multiplier or 1.0) * sqrt(f.n_layers),
        "dim_model_base": round(f.d_model * (1.0 if scale is None else scale.value)),
    }


def _latent_sizes(f: Facts) -> Sizes:
    """A width that the heads divide, and a shared expert of twice an expert's width."""
    part = f.latent
    heads, width = part.n_heads.value, part.d_model.value
    found = {part.d_model.name: heads * max(2, round(width / heads))}
    if any(isinstance(body, MixtureOfExperts) for body in f.feed_forwards):
        found |= _shared(f, 2)
    return found


def _whole_base(f: Facts) -> Sizes:
    """A width whose share before the head is a whole number too."""
    part, scale = f.latent, f.head.in_scale
    share = Fraction(1 if scale is None else scale.value).limit_denominator(1000)
    step = lcm(part.n_heads.value, share.denominator)
    return {part.d_model.name: step * max(1, round(part.d_model.value / step))}


def _shared(f: Facts, times: int) -> dict[str, int]:
    shared = f.experts.shared
    return {} if shared is None else {shared.body.d_ff.name: times * f.experts.experts.d_ff.value}


DIALECTS = (
    Dialect("mixtral", "mixtral", "MixtralForCausalLM", _mixtral, sizes=divisible),
    Dialect("qwen3_moe", "qwen3_moe", "Qwen3MoeForCausalLM", _qwen3_moe, sizes=divisible),
    Dialect("qwen2_moe", "qwen2_moe", "Qwen2MoeForCausalLM", _qwen2_moe, sizes=divisible),
    Dialect(
        "gpt_oss",
        "gpt_oss",
        "GptOssForCausalLM",
        _gpt_oss,
        sizes=divisible,
        attention="eager",
        because="sdpa has no sinks",
    ),
    Dialect(
        "llama4",
        "llama4_text",
        "Llama4ForCausalLM",
        _llama4,
        sizes=lambda f: {**divisible(f), **_shared(f, 1)},
        padded=_no_temperature,
        padded_because="the library counts padding into its temperature: padded, it is off",
    ),
    Dialect("minicpm3", "minicpm3", "MiniCPM3ForCausalLM", _minicpm3, sizes=_whole_base),
    Dialect(
        "deepseek",
        "deepseek_v3",
        "DeepseekV3ForCausalLM",
        _deepseek,
        lambda f: f.experts.router.selection_bias is not None,
        _latent_sizes,
    ),
    Dialect("deepseek_half", "deepseek_v3", "DeepseekV3ForCausalLM", _halves, sizes=_latent_sizes),
    Dialect("deepseek", "deepseek_v2", "DeepseekV2ForCausalLM", _deepseek_v2, sizes=_latent_sizes),
)
