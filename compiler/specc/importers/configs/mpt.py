"""MPT: ALiBi, and no bias anywhere, not even in the norms; attention's keys stand in a mapping."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read, read_common
from specc.importers.config import Cited, Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft


def _mpt(config: Config, draft: Draft) -> None:
    config.rename(
        {
            "hidden_size": "d_model",
            "num_hidden_layers": "n_layers",
            "num_attention_heads": "n_heads",
        }
    )
    parts.sizes(config, draft, "d_model", "n_layers", None)
    draft.put("position.kind", config.code("alibi", "scores fall with distance"))
    parts.layer_norm(config, draft, config.number("layer_norm_epsilon", 1e-5), bias=False)
    parts.block(config, draft)
    draft.put("attention.n_heads", config.count("n_heads"))
    parts.attention(config, draft, parts.biases(parts.no_bias(config)))
    draft.put("attention.projection", config.code("fused", "Wqkv makes q, k and v at once"))
    gelu = config.code("gelu_erf", "GELU by the error function")
    parts.plain(config, draft, parts.no_bias(config), gelu, parts.times(config, 4, "d_model"))
    parts.language_model(config, draft, tied=True)
    parts.init(config, draft)
    _attention(config.inner("attn_config") or config.empty(), draft)
    config.expect("no_bias", True, "biases are not read for these models")
    config.expect("expansion_ratio", 4, "the library always takes four times the width")
    config.ignore({"max_seq_len": "distances need no table"})
    config.ignore({"norm_type": "a layer norm, computed in the type of its input"})
    never_read(
        config,
        "emb_pdrop",
        "resid_pdrop",
        "embedding_fraction",
        "learned_pos_emb",
        "logit_scale",
        "verbose",
        "init_config",
        "tokenizer_name",
    )


def _attention(inner: Config, draft: Draft) -> None:
    """The mapping of attention, which is written with the keys of any config."""
    read_common(inner)
    inner.ignore(dict.fromkeys(("_name_or_path", "architectures"), "the mapping is no model"))
    draft.put("attention.clip_qkv", inner.optional_number("clip_qkv"))
    draft.put("attention.scale", inner.optional_number("softmax_scale") or _scale(inner))
    rate = inner.number("attn_pdrop", 0.0)
    parts.dropouts(draft, attention=rate, residual=rate)
    inner.expect("alibi", True, "these models are read with ALiBi only")
    inner.expect("attn_type", "multihead_attention", "one key head for all is not read here")
    inner.expect("prefix_lm", False, "attention to both sides of a prefix is not in the vocabulary")
    inner.expect("qk_ln", False, "norms of q and k are not read for these models")
    inner.expect("attn_uses_sequence_id", False, "several texts in one row are not read")
    never_read(inner, "alibi_bias_max")


def _scale(inner: Config) -> Cited[str]:
    return inner.code("inv_sqrt_head_dim", "scores are divided by the root of the head's width")


DIALECTS = (Dialect("mpt", "mpt", "mpt", "MPT", _mpt),)
