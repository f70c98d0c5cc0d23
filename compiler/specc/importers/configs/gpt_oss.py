"""gpt-oss: attention sinks, biases everywhere, every other layer local, clamped experts."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Config
from specc.importers.configs.mixtral import expert_part
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import rope


def _gpt_oss(config: Config, draft: Draft) -> None:
    config.rename({"num_experts": "num_local_experts"})
    n_layers = parts.sizes(config, draft)
    rope(config, draft, theta=150000.0)
    if not (config.has("rope_scaling") or config.has("rope_parameters")):
        config.need("rope_scaling", "left out, the library would stretch angles 32 times")
    parts.rms_norm(config, draft, default=1e-5, cast="after_weight")
    parts.block(config, draft)
    parts.heads(config, draft, n_kv_heads=8, head_dim=64)
    parts.attention(config, draft, parts.biases(config.flag("attention_bias", True)))
    draft.put("attention.sinks", config.code(True, "a score a head that no key has"))
    clamp = {
        "alpha": config.number("swiglu_alpha", 1.702).value,
        "limit": config.number("swiglu_limit", 7.0).value,
        "up_offset": 1.0,
    }
    limit = config.number("swiglu_limit", 7.0)
    experts = {
        **expert_part(config, "num_local_experts", "intermediate_size"),
        "bias": parts.some_bias(config),
        "router_bias": config.code(True, "the router has a bias"),
        "score": config.code("topk_softmax", "the best few, then a softmax over them"),
        "clamp": limit.but(clamp, "gate and up are kept within it; up is moved by one"),
    }
    draft.put_all(parts.below("feed_forward", experts))
    local = {"attention.window": config.count("sliding_window", 128)}
    why = "every other layer has a window, the first one too"
    draft.layers(config, [parts.windowed(config, n_layers, lambda i: i % 2 == 0, why, local, {})])
    parts.language_model(config, draft, tied=False)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    parts.init(config, draft)
    never_read(config, "experts_per_token", "initial_context_length")


DIALECTS = (Dialect("gpt_oss", "gpt_oss", "gpt_oss", "gpt-oss", _gpt_oss),)
