"""StableLM: the Llama block with layer norms, in sequence or in parallel."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import rope


def _stablelm(config: Config, draft: Draft) -> None:
    parts.sizes(config, draft)
    rope(config, draft, fraction=0.25)
    parts.layer_norm(config, draft, config.number("layer_norm_eps", 1e-5))
    parallel = config.flag("use_parallel_residual", False)
    parts.block(
        config,
        draft,
        wiring=parts.wiring(parallel.value),
        shared_norm=parallel.value,
        said=parallel,
    )
    draft.put("attention.n_heads", config.count("num_attention_heads"))
    draft.put("attention.n_kv_heads", config.optional_count("num_key_value_heads", 32))
    never_read(config, "head_dim")
    said = config.flag("use_qkv_bias", False)
    parts.attention(config, draft, parts.biases(said, "qkv"))
    normed = config.flag("qk_layernorm", False)
    if normed.value:
        parts.norms_by_head(config, draft, normed)
        draft.layout = "stablelm"  # each head's norm is a module of its own
    parts.gated(config, draft, parts.no_bias(config))
    parts.language_model(config, draft, tied=False)
    parts.dropouts(
        draft,
        attention=config.number("attention_dropout", 0.0),
        ff_out=config.number("hidden_dropout", 0.0),
    )
    parts.init(config, draft)


DIALECTS = (Dialect("stablelm", "stablelm", "llama", "StableLM", _stablelm),)
