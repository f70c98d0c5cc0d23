"""Mixtures of experts in the words of Llama: Mixtral and the Qwen mixtures."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Cited, Config
from specc.importers.configs.llama import block, used_window
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft, Part


def _mixtral(config: Config, draft: Draft) -> None:
    config.rename({"num_experts": "num_local_experts"})
    block(config, draft, theta=1e6, eps=1e-5, n_kv_heads=8)
    parts.attention(config, draft, parts.biases(parts.no_bias(config)))
    draft.put("attention.window", config.optional_count("sliding_window"))
    score = config.code("topk_softmax", "softmax, the best few, divided by their sum: one softmax")
    experts = {
        **expert_part(config, "num_local_experts", "intermediate_size"),
        "score": score,
    }
    draft.put_all(parts.below("feed_forward", experts))
    parts.language_model(config, draft, tied=False)


def expert_part(config: Config, n_experts: str, d_ff: str) -> Part:
    """What every mixture of gated experts says."""
    return {
        "kind": config.code("experts", "a router chooses a few of many feed-forwards"),
        "n_experts": config.count(n_experts),
        "top_k": config.count("num_experts_per_tok"),
        "activation": config.word("hidden_act", parts.ACTIVATIONS, "silu", "activation"),
        "d_ff": config.count(d_ff),
        "bias": parts.no_bias(config),
    }


def _qwen2_moe(config: Config, draft: Draft) -> None:
    n_layers = block(config, draft, n_kv_heads=16)
    parts.attention(config, draft, parts.biases(config.flag("qkv_bias", True), "qkv"))
    window, first = used_window(config, 4096), config.whole("max_window_layers", 28)
    seen = parts.windowed(
        config,
        n_layers,
        lambda i: window is not None and i % 2 == 0 and i < first.value,
        "every other layer up to max_window_layers has a window, if one is used",
        {} if window is None else {"attention.window": window},
        {},
    )
    if window is None and "local" in seen.names:
        config.refuse("layer_types", "some layers have a window, and use_sliding_window is false")
    shared = config.count("shared_expert_intermediate_size")
    experts = {
        **_chosen(config, "num_experts"),
        "shared": shared.but({"d_ff": shared.value, "gate": "sigmoid"}),
    }
    dense = parts.gated_part(config, parts.no_bias(config))
    mixed = parts.dense_or_experts(_dense_layers(config, n_layers), dense, experts)
    draft.layers(config, [seen, mixed])
    parts.language_model(config, draft, tied=False)


def _chosen(config: Config, n_experts: str) -> Part:
    """Experts chosen by the weights of a softmax over all."""
    return {
        **expert_part(config, n_experts, "moe_intermediate_size"),
        "score": config.code("softmax", "weights over all experts, then the best few"),
        "renormalise": config.flag("norm_topk_prob", False),
    }


def _qwen3_moe(config: Config, draft: Draft) -> None:
    config.rename({"num_experts": "num_local_experts"})
    n_layers = block(config, draft, n_kv_heads=4)
    parts.attention(config, draft)
    parts.head_norms(config, draft)
    draft.put("attention.window", used_window(config, 4096))
    never_read(config, "max_window_layers", "layer_types")
    experts = _chosen(config, "num_local_experts")
    dense = parts.gated_part(config, parts.no_bias(config))
    draft.layers(config, [parts.dense_or_experts(_dense_layers(config, n_layers), dense, experts)])
    parts.language_model(config, draft, tied=False)


def _dense_layers(config: Config, n_layers: int) -> Cited[list[bool]]:
    named = config.counts("mlp_only_layers")
    step = config.count("decoder_sparse_step", 1)
    only = set() if named is None else set(named.value)
    found = [i in only or (i + 1) % step.value != 0 for i in range(n_layers)]
    at = step.at if named is None else f"{named.at}, {step.at}"
    return Cited(found, at)


DIALECTS = (
    Dialect("mixtral", "mixtral", "mixtral", "Mixtral", _mixtral),
    Dialect("qwen2_moe", "qwen2_moe", "qwen2_moe", "Qwen2 MoE", _qwen2_moe),
    Dialect("qwen3_moe", "qwen3_moe", "qwen3_moe", "Qwen3 MoE", _qwen3_moe),
)
