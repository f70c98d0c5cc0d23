"""Phi 1 to 2, parallel with biases everywhere, and Phi 3, the Llama block with fused maps."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import rope


def _phi(config: Config, draft: Draft) -> None:
    parts.sizes(config, draft)
    rope(config, draft, fraction=0.5)
    parts.layer_norm(config, draft, config.number("layer_norm_eps", 1e-5))
    parts.block(config, draft, wiring="parallel", shared_norm=True)
    parts.heads(config, draft)
    parts.attention(config, draft, parts.biases(parts.some_bias(config)))
    normed = config.flag("qk_layernorm", False)
    if normed.value:
        draft.put("attention.qk_norm.kind", normed.but("layer"))
        draft.put("attention.qk_norm.over", config.code("head", "one gain and shift for all heads"))
    activation = config.word("hidden_act", parts.ACTIVATIONS, "gelu_new", "activation")
    d_ff = config.count("intermediate_size")
    parts.plain(config, draft, parts.some_bias(config), activation, d_ff)
    has_bias = config.code(True, "the output matrix has a bias")
    parts.language_model(config, draft, tied=False, bias=has_bias)
    residual = config.number("resid_pdrop", 0.0)
    parts.dropouts(
        draft,
        embedding=config.number("embd_pdrop", 0.0),
        attention=config.number("attention_dropout", 0.0),
        residual=residual,
    )
    parts.init(config, draft)


def _phi3(config: Config, draft: Draft) -> None:
    parts.sizes(config, draft)
    original = "original_max_position_embeddings"
    config.ignore({original: "without a scaling nothing reads it"})
    turned = rope(config, draft, original=config.count(original, 4096))
    scaling = turned.get("scaling.kind")
    if scaling is not None and scaling.value != "longrope":
        config.refuse("rope_scaling", "the library knows longrope only for these models")
    parts.rms_norm(config, draft, default=1e-5)
    parts.block(config, draft)
    parts.heads(config, draft)
    parts.attention(config, draft, parts.biases(parts.no_bias(config)))
    draft.put("attention.projection", config.code("fused", "qkv_proj makes q, k and v at once"))
    draft.put("attention.window", config.optional_count("sliding_window"))
    parts.gated(config, draft, parts.no_bias(config))
    parts.language_model(config, draft, tied=False)
    residual = config.number("resid_pdrop", 0.0)
    parts.dropouts(
        draft,
        attention=config.number("attention_dropout", 0.0),
        residual=residual,
    )
    never_read(config, "embd_pdrop", "attention_bias")
    parts.init(config, draft)


DIALECTS = (
    Dialect("phi", "phi", "phi", "Phi", _phi),
    Dialect("phi3", "phi3", "phi3", "Phi-3", _phi3),
)
