"""Nemotron and Minitron: layer norms with gains of 1 + w, a squared ReLU."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import rope


def _nemotron(config: Config, draft: Draft) -> None:
    parts.sizes(config, draft)
    rope(config, draft, fraction=0.5)
    parts.layer_norm(config, draft, config.number("norm_eps", 1e-5), weight="one_plus_w")
    parts.block(config, draft)
    parts.heads(config, draft)
    parts.attention(config, draft)
    activation = config.word("hidden_act", parts.ACTIVATIONS, "relu2", "activation")
    bias = config.flag("mlp_bias", False)
    parts.plain(config, draft, bias, activation, config.count("intermediate_size"))
    parts.language_model(config, draft, tied=False)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    parts.init(config, draft, default=0.0134)


DIALECTS = (Dialect("nemotron", "nemotron", "llama", "Nemotron", _nemotron),)
