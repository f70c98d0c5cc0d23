"""Falcon in its three architectures: one key head for all, a few, or one for each."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.config import Cited, Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import rope


def _falcon(config: Config, draft: Draft) -> None:
    config.rename({"n_embed": "hidden_size", "n_layer": "num_hidden_layers"})
    config.rename({"n_head": "num_attention_heads", "n_head_kv": "num_kv_heads"})
    parts.sizes(config, draft, max_seq_len=None)
    draft.put("max_seq_len", config.count("max_position_embeddings", 2048))
    rope(config, draft)
    lacks = "ALiBi added before the scores are scaled is not in the vocabulary"
    config.expect("alibi", False, lacks)
    parts.layer_norm(config, draft, config.number("layer_norm_epsilon", 1e-5))
    _architecture(config, draft)
    bias = config.flag("bias", False)
    parts.attention(config, draft, parts.biases(bias))
    activation = config.word("activation", parts.ACTIVATIONS, "gelu", "activation")
    d_ff = parts.four_times(config, "ffn_hidden_size", "hidden_size")
    parts.plain(config, draft, bias, activation, d_ff)
    parts.language_model(config, draft, tied=True)
    hidden = config.number("hidden_dropout", 0.0)
    parts.dropouts(
        draft,
        attention=config.number("attention_dropout", 0.0),
        residual=hidden,
    )
    parts.init(config, draft)
    lacks = "a residual from the normed stream is not read for these models"
    config.expect("apply_residual_connection_post_layernorm", False, lacks)


def _architecture(config: Config, draft: Draft) -> None:
    """How many key heads, and which norms."""
    new = config.flag("new_decoder_architecture", False)
    single = config.flag("multi_query", True)
    parallel = config.flag("parallel_attn", True)
    norms = config.optional_count("num_ln_in_parallel_attn")
    draft.put("attention.n_heads", config.count("num_attention_heads"))
    kv = config.optional_count("num_kv_heads")
    if new.value:
        draft.put("attention.n_kv_heads", kv)
        shared = norms is not None and norms.value == 1
    else:
        shared = parallel.value
        config.ignore({"num_kv_heads": "new_decoder_architecture is false: multi_query counts"})
        if single.value:
            draft.put("attention.n_kv_heads", single.but(1, "one key head for all"))
            because = "one matrix makes q, k and v, and stacks them so"
            draft.put("attention.projection", config.code("fused", because))
    beside = Cited(new.value or parallel.value, new.at if new.value else parallel.at)
    parts.block(
        config,
        draft,
        wiring=parts.wiring(beside.value),
        shared_norm=shared,
        said=beside,
    )
    if not beside.value:
        draft.layout = "falcon_rw"
    if new.value and not parallel.value:
        config.refuse("parallel_attn", "the newer architecture is always parallel")


DIALECTS = (Dialect("falcon", "falcon", "falcon", "Falcon", _falcon),)
