"""Configs of dense decoders of the Llama kind."""

from __future__ import annotations

from specc.importers.hf_configs.dialect import Dialect, divisible, square
from specc.importers.hf_configs.facts import Facts
from specc.importers.hf_configs.rope import rope
from specc.ir.attention import NormOver, SeparateProjections
from specc.ir.block import EmbeddingScale
from specc.ir.layers import NormWeight
from specc.ir.positions import DynamicScaling, LongRopeScaling
from specc.ir.sizes import Constant

MANY = 64  # positions, where the model does not say


def sizes_of(f: Facts) -> dict[str, object]:
    """What all of them say in the same words."""
    return {
        "vocab_size": f.vocab_size,
        "hidden_size": f.d_model,
        "num_hidden_layers": f.n_layers,
        "num_attention_heads": f.attention.n_heads.value,
        "num_key_value_heads": f.attention.n_kv_heads.value,
        "head_dim": f.attention.head_dim.value,
        "intermediate_size": f.d_ff,
        "hidden_act": f.activation,
        "tie_word_embeddings": f.tied,
    } | _turning(f)


def _turning(f: Facts) -> dict[str, object]:
    """How many positions there are, and how they turn; a model may have no turning layer."""
    if all(rotary is None for rotary in f.rotaries):
        return {"max_position_embeddings": MANY}
    scaling = f.rotary.scaling
    # The class has no other word for the length from which frequencies grow with the call.
    size = scaling.original_max_seq_len if isinstance(scaling, DynamicScaling) else f.rotary.size
    return {"max_position_embeddings": size.value, "rope_parameters": rope(f.rotary)}


def rms(f: Facts) -> dict[str, object]:
    """The same with root mean square norms."""
    return sizes_of(f) | {"rms_norm_eps": f.eps}


def biases(f: Facts) -> tuple[bool, bool]:
    """Whether queries, keys and values have biases, and whether the output has."""
    part = f.attention.projections
    first = part.q if isinstance(part, SeparateProjections) else part.qkv
    return first.bias, f.attention.output.bias


def _llama(f: Facts) -> dict[str, object]:
    return rms(f) | {"attention_bias": biases(f)[0], "mlp_bias": f.dense.up.bias}


def _windowed(f: Facts) -> dict[str, object]:
    return rms(f) | {"sliding_window": f.window}


def _qwen2(f: Facts) -> dict[str, object]:
    windows = f.window is not None
    return rms(f) | {
        "use_sliding_window": windows,
        "sliding_window": f.window,
        "layer_types": f.layer_types,
    }


def _qwen3(f: Facts) -> dict[str, object]:
    return _qwen2(f) | {"attention_bias": biases(f)[0]}


def scaled(scale: EmbeddingScale | Constant) -> float:
    """A factor of the embedding as a number; only a free one is."""
    return scale.value if isinstance(scale, Constant) else 1.0


def _granite(f: Facts) -> dict[str, object]:
    out = f.head.out_scale
    return rms(f) | {
        "attention_bias": biases(f)[0],
        "mlp_bias": f.dense.up.bias,
        "embedding_multiplier": scaled(f.input.scale),
        "residual_multiplier": 1.0 if f.multiplier is None else f.multiplier,
        "attention_multiplier": _multiplier(f),
        "logits_scaling": 1.0 if out is None else 1 / out.value,
    }


def _multiplier(f: Facts) -> float:
    factor = f.scale_factor
    return f.attention.head_dim.value**-0.5 if factor is None else factor


def _smollm3(f: Facts) -> dict[str, object]:
    return _qwen2(f) | {
        "attention_bias": biases(f)[0],
        "mlp_bias": f.dense.up.bias,
        "no_rope_layers": [int(rotary is not None) for rotary in f.rotaries],
    }


def _stablelm(f: Facts) -> dict[str, object]:
    return sizes_of(f) | {
        "layer_norm_eps": f.eps,
        "use_qkv_bias": biases(f)[0],
        "qk_layernorm": f.qk_norm is not None,
        "use_parallel_residual": f.is_parallel,
    }


def _nemotron(f: Facts) -> dict[str, object]:
    return sizes_of(f) | {
        "norm_eps": f.eps,
        "attention_bias": biases(f)[0],
        "mlp_bias": f.dense.up.bias,
    }


def _olmo(f: Facts) -> dict[str, object]:
    clip = f.attention.clip
    return sizes_of(f) | {
        "attention_bias": biases(f)[0],
        "clip_qkv": None if clip is None else clip.value,
    }


def _gemma2(f: Facts) -> dict[str, object]:
    softcap = f.attention.softcap
    cap = None if softcap is None else softcap.value
    return _capped(f) | {"attn_logit_softcapping": cap}


def _capped(f: Facts) -> dict[str, object]:
    final = f.head.softcap
    return rms(f) | {
        "final_logit_softcapping": None if final is None else final.value,
        "hidden_activation": f.activation,
        "query_pre_attn_scalar": f.scale_width,
        "sliding_window": f.window,
        "layer_types": f.layer_types,
    }


def _two_ropes(f: Facts) -> dict[str, object]:
    """Of layers with a window and of those without."""
    kinds = zip(f.layer_types, f.rotaries, strict=True)
    return {kind: rope(part) for kind, part in kinds if part is not None}


def _gemma3(f: Facts) -> dict[str, object]:
    return _capped(f) | {"rope_parameters": _two_ropes(f)}


def _olmo3(f: Facts) -> dict[str, object]:
    return _windowed(f) | {"layer_types": f.layer_types, "rope_parameters": _two_ropes(f)}


def _exaone4(f: Facts) -> dict[str, object]:
    return _windowed(f) | {"layer_types": f.layer_types}


def _cohere(f: Facts) -> dict[str, object]:
    out = f.head.out_scale
    return sizes_of(f) | {
        "layer_norm_eps": f.eps,
        "attention_bias": biases(f)[0],
        "logit_scale": 1.0 if out is None else out.value,
    }


def _command(f: Facts) -> dict[str, object]:
    return _cohere(f) | {"use_qk_norm": f.qk_norm is not None}


def _cohere2(f: Facts) -> dict[str, object]:
    window = MANY if f.window is None else f.window  # the class wants one, used or not
    return _cohere(f) | {"sliding_window": window, "layer_types": f.layer_types}


def _glm4(f: Facts) -> dict[str, object]:
    return rms(f) | {"attention_bias": biases(f)[0]}


def _phi3(f: Facts) -> dict[str, object]:
    part = f.rotary
    long = part.scaling if isinstance(part.scaling, LongRopeScaling) else None
    original = part.size if long is None else long.original_max_seq_len
    return _windowed(f) | {"original_max_position_embeddings": original.value}


def _phi(f: Facts) -> dict[str, object]:
    return sizes_of(f) | {"layer_norm_eps": f.eps, "qk_layernorm": f.qk_norm is not None}


def _starcoder2(f: Facts) -> dict[str, object]:
    return sizes_of(f) | {
        "norm_epsilon": f.eps,
        "sliding_window": f.window,
        "use_bias": f.attention.output.bias,
    }


def _has_gains(f: Facts) -> bool:
    return f.norm_weight is not NormWeight.NONE


def _all_windowed(f: Facts) -> bool:
    return all(window is not None for window in f.windows)


def _is_granite(f: Facts) -> bool:
    return f.multiplier is not None or f.scale_factor is not None


def _over(f: Facts, over: NormOver) -> bool:
    return f.qk_norm is not None and f.qk_norm.over is over


# Of one layout the first that says the model is taken.
DIALECTS = (
    Dialect("llama", "olmo", "OlmoForCausalLM", _olmo, lambda f: not _has_gains(f), divisible),
    Dialect(
        "llama",
        "nemotron",
        "NemotronForCausalLM",
        _nemotron,
        lambda f: not f.is_rms and f.norm_weight is NormWeight.ONE_PLUS,
        divisible,
        attention="eager",
    ),
    Dialect("llama", "stablelm", "StableLmForCausalLM", _stablelm, lambda f: not f.is_rms, square),
    Dialect("llama", "granite", "GraniteForCausalLM", _granite, _is_granite, divisible),
    Dialect(
        "llama", "smollm3", "SmolLM3ForCausalLM", _smollm3, lambda f: None in f.rotaries, divisible
    ),
    Dialect(
        "llama", "qwen3", "Qwen3ForCausalLM", _qwen3, lambda f: f.qk_norm is not None, divisible
    ),
    Dialect(
        "llama",
        "gemma",
        "GemmaForCausalLM",
        rms,
        lambda f: f.norm_weight is NormWeight.ONE_PLUS,
        divisible,
    ),
    Dialect(
        "llama",
        "qwen2",
        "Qwen2ForCausalLM",
        _qwen2,
        lambda f: biases(f) == (True, False),
        divisible,
    ),
    Dialect("llama", "mistral", "MistralForCausalLM", _windowed, _all_windowed, divisible),
    Dialect("llama", "llama", "LlamaForCausalLM", _llama, sizes=divisible),
    Dialect("stablelm", "stablelm", "StableLmForCausalLM", _stablelm, sizes=square),
    Dialect(
        "gemma2",
        "gemma3_text",
        "Gemma3ForCausalLM",
        _gemma3,
        lambda f: f.qk_norm is not None,
        divisible,
    ),
    Dialect(
        "gemma2",
        "gemma2",
        "Gemma2ForCausalLM",
        _gemma2,
        sizes=divisible,
        attention="eager",
        because="sdpa cannot cap scores",
    ),
    Dialect(
        "olmo2",
        "exaone4",
        "Exaone4ForCausalLM",
        _exaone4,
        lambda f: _over(f, NormOver.HEAD),
        divisible,
    ),
    Dialect(
        "olmo2", "olmo3", "Olmo3ForCausalLM", _olmo3, lambda f: f.window is not None, divisible
    ),
    Dialect("olmo2", "olmo2", "Olmo2ForCausalLM", _llama, sizes=divisible),
    Dialect(
        "cohere",
        "cohere2",
        "Cohere2ForCausalLM",
        _cohere2,
        lambda f: f.window is not None or None in f.rotaries,
        square,
    ),
    Dialect("cohere", "cohere", "CohereForCausalLM", _command, sizes=square),
    Dialect("glm4", "glm4", "Glm4ForCausalLM", _glm4, sizes=divisible),
    Dialect("phi3", "phi3", "Phi3ForCausalLM", _phi3, sizes=square),
    Dialect("phi", "phi", "PhiForCausalLM", _phi, sizes=square),
    Dialect("starcoder2", "starcoder2", "Starcoder2ForCausalLM", _starcoder2, sizes=divisible),
)
