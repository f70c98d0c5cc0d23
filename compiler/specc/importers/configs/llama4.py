"""The text models of Llama 4: chunks and positions go together; experts weigh their inputs."""

from __future__ import annotations

from typing import Any

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Cited, Config
from specc.importers.configs.llama import turned_layers
from specc.importers.configs.mixtral import expert_part
from specc.importers.dialect import Dialect
from specc.importers.draft import Axis, Draft, Part
from specc.importers.rope import rope


def _llama4(config: Config, draft: Draft) -> None:
    n_layers = parts.sizes(config, draft)
    rope(config, draft, theta=5e5, layout="interleaved")
    parts.rms_norm(config, draft, default=1e-5)
    parts.block(config, draft)
    parts.heads(config, draft, n_kv_heads=8, head_dim=128)
    parts.attention(config, draft)
    shared = {"d_ff": config.count("intermediate_size").value}
    experts = {
        **expert_part(config, "num_local_experts", "intermediate_size"),
        "score": config.code("sigmoid", "each expert is weighed apart"),
        "apply": config.code("input", "the weight multiplies what an expert reads"),
        "shared": config.code(shared, "one more expert, as wide, which every token passes"),
    }
    dense = parts.gated_part(config, parts.no_bias(config), d_ff="intermediate_size_mlp")
    mixed = parts.dense_or_experts(_dense_layers(config, n_layers), dense, experts)
    draft.layers(config, [_attention(config, n_layers), mixed])
    parts.language_model(config, draft, tied=False)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    parts.init(config, draft)
    never_read(config, "for_llm_compression", "attention_chunk_sizes")


def _dense_layers(config: Config, n_layers: int) -> Cited[list[bool]]:
    named = config.counts("moe_layers")
    step = config.count("interleave_moe_layer_step", 1)
    if named is not None:
        return named.but([i not in named.value for i in range(n_layers)])
    return step.but([(i + 1) % step.value != 0 for i in range(n_layers)])


def _attention(config: Config, n_layers: int) -> Axis:
    """Layers by what they see and whether they turn: usually both or neither."""
    turned = turned_layers(config, n_layers)
    chunk = config.optional_count("attention_chunk_size", 8192)
    seen = parts.by_word(
        config,
        "layer_types",
        {"chunked_attention": "chunked", "full_attention": "global"},
        [
            "chunked_attention" if name == "rope" and chunk else "full_attention"
            for name in turned.names
        ],
        "layers with positions see their own chunk",
        {},
    )
    if chunk is None and "chunked" in seen.names:
        config.refuse("layer_types", "some layers have chunks, and attention_chunk_size is null")
    words = {
        ("rope", "chunked"): "chunked",
        ("nope", "global"): "global",
        ("rope", "global"): "turned",
        ("nope", "chunked"): "unturned",
    }
    pairs = zip(turned.names, seen.names, strict=False)
    names = tuple(words.get(pair, "global") for pair in pairs)
    own = {} if chunk is None else {"attention.chunk": chunk}
    rope_only, still = _turned(config), _still(config)
    layer_parts: dict[str, Part] = {
        "chunked": {**own, **rope_only},
        "global": still,
        "turned": rope_only,
        "unturned": {**own, **still},
    }
    return Axis(names, turned.at, layer_parts, turned.because)


def _turned(config: Config) -> Part:
    """Norms of queries and keys, after they are turned."""
    said = config.flag("use_qk_norm", True)
    if not said.value:
        return {}
    return {
        "attention.qk_norm.kind": said.but("rms"),
        "attention.qk_norm.weight": config.code("none", "without a gain"),
        "attention.qk_norm.when": config.code("after_rotary", "once they are turned"),
    }


def _still(config: Config) -> Part:
    """No positions, and queries that grow with theirs."""
    part: dict[str, Cited[Any]] = {
        "position.kind": config.code("none", "these layers turn nothing")
    }
    floor, scale = config.count("floor_scale", 8192), config.number("attn_scale", 0.1)
    if config.truth("attn_temperature_tuning", True).value:
        part["attention.temperature.floor"] = floor
        part["attention.temperature.coefficient"] = scale
    return part


DIALECTS = (Dialect("llama4_text", "llama4", "llama4", "Llama 4", _llama4),)
