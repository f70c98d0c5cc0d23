"""Llama and those who kept its words: Mistral, Qwen 2 and 3, Granite, SmolLM3."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Axis, Draft
from specc.importers.rope import rope


def _block(config: Config, draft: Draft, theta: float = 10000.0) -> int:
    """What they all share, attention's biases and the feed-forward apart."""
    n_layers = parts.sizes(config, draft)
    rope(config, draft, theta=theta)
    parts.rms_norm(config, draft)
    parts.block(config, draft)
    parts.heads(config, draft)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    parts.init(config, draft)
    return n_layers


def _llama(config: Config, draft: Draft) -> None:
    _block(config, draft)
    parts.attention(config, draft)
    parts.gated(config, draft, config.flag("mlp_bias", False))
    parts.language_model(config, draft, tied=False)


DIALECTS = (Dialect("llama", "llama", "llama", "Llama", _llama),)
