"""StarCoder2: layer norms, biases by one key, a plain feed-forward, a window in every layer."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import rope


def _starcoder2(config: Config, draft: Draft) -> None:
    parts.sizes(config, draft)
    rope(config, draft)
    parts.layer_norm(config, draft, config.number("norm_epsilon", 1e-5))
    parts.block(config, draft)
    parts.heads(config, draft, n_kv_heads=2)
    bias = config.flag("use_bias", True)
    parts.attention(config, draft, parts.biases(bias))
    draft.put("attention.window", config.optional_count("sliding_window"))
    activation = config.word("hidden_act", parts.ACTIVATIONS, "gelu_pytorch_tanh", "activation")
    parts.plain(config, draft, bias, activation, config.count("intermediate_size"))
    parts.language_model(config, draft, tied=True)
    residual = config.number("residual_dropout", 0.0)
    parts.dropouts(
        draft,
        embedding=config.number("embedding_dropout", 0.0),
        attention=config.number("attention_dropout", 0.0),
        residual=residual,
    )
    parts.init(config, draft, default=0.018042)
    config.expect("mlp_type", "default", "only two maps with an activation between are read")
    config.expect("norm_type", "layer_norm", "only layer norms are read")
    never_read(
        config,
        "activation_function",
        "attention_softmax_in_fp32",
        "scale_attention_softmax_in_fp32",
        "scale_attn_weights",
        "layer_norm_epsilon",
    )


DIALECTS = (Dialect("starcoder2", "starcoder2", "starcoder2", "StarCoder2", _starcoder2),)
