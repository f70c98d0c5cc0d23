"""GLM-4 0414: norms on both sides of each sublayer, half of each head turned in pairs."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import rope


def _glm4(config: Config, draft: Draft) -> None:
    parts.sizes(config, draft)
    rope(config, draft, fraction=0.5, layout="interleaved")
    parts.rms_norm(config, draft, default=1.5625e-07)
    parts.block(config, draft, "sandwich")
    parts.heads(config, draft, n_kv_heads=2, head_dim=128)
    parts.attention(config, draft, parts.biases(config.flag("attention_bias", True), "qkv"))
    parts.gated(config, draft, parts.no_bias(config))
    parts.language_model(config, draft, tied=False)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    parts.init(config, draft)


DIALECTS = (Dialect("glm4", "glm4", "glm4", "GLM-4", _glm4),)
