"""BLOOM: ALiBi in place of positions, and a norm right after the embedding."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft


def _bloom(config: Config, draft: Draft) -> None:
    config.rename(
        {
            "n_embed": "hidden_size",
            "num_hidden_layers": "n_layer",
            "num_attention_heads": "n_head",
        }
    )
    parts.sizes(config, draft, n_layers="n_layer", max_seq_len=None)
    draft.put("embedding.norm", config.code(True, "token rows are normed before the first layer"))
    draft.put("position.kind", config.code("alibi", "scores fall with distance"))
    parts.layer_norm(config, draft, config.number("layer_norm_epsilon", 1e-5))
    parts.block(config, draft)
    normed = config.flag("apply_residual_connection_post_layernorm", False)
    draft.put("block.residual", normed.but("normed" if normed.value else "raw"))
    draft.put("attention.n_heads", config.count("n_head"))
    parts.attention(config, draft, parts.biases(parts.some_bias(config)))
    tanh = config.code("gelu_tanh", "the tanh form of GELU")
    width = parts.times(config, 4, "hidden_size")
    parts.plain(config, draft, parts.some_bias(config), tanh, width)
    config.expect("n_inner", None, "the library always takes four times the width")
    parts.language_model(config, draft, tied=True)
    hidden = config.number("hidden_dropout", 0.0)
    parts.dropouts(
        draft,
        attention=config.number("attention_dropout", 0.0),
        residual=hidden,
    )
    parts.init(config, draft)
    never_read(
        config,
        "attention_softmax_in_fp32",
        "bias_dropout_fusion",
        "masked_softmax_fusion",
        "offset_alibi",
        "seq_length",
        "skip_bias_add",
        "skip_bias_add_qkv",
    )


DIALECTS = (Dialect("bloom", "bloom", "bloom", "BLOOM", _bloom),)
