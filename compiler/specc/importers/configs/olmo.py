"""OLMo 1, 2 and 3: norms without weights, then norms on what sublayers add, then windows too."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.config import Config
from specc.importers.configs.gemma import by_layer_type
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import kind_part, rope


def _olmo(config: Config, draft: Draft) -> None:
    parts.sizes(config, draft)
    rope(config, draft)
    eps = config.code(1e-5, "the eps of the norms is fixed, whatever a config says")
    parts.layer_norm(config, draft, eps, weight="none")
    parts.block(config, draft)
    parts.heads(config, draft)
    parts.attention(config, draft)
    draft.put("attention.clip_qkv", config.optional_number("clip_qkv"))
    _rest(config, draft)


def _rest(config: Config, draft: Draft) -> None:
    parts.gated(config, draft, parts.no_bias(config))
    parts.language_model(config, draft, tied=False)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    parts.init(config, draft)


def _reordered(config: Config, draft: Draft) -> int:
    """The block of the second and third."""
    n_layers = parts.sizes(config, draft)
    parts.rms_norm(config, draft, default=1e-5, cast="after_weight")
    parts.block(config, draft, "post_sublayer")
    parts.heads(config, draft)
    parts.attention(config, draft)
    draft.put("attention.qk_norm.kind", config.code("rms", "queries and keys are normed"))
    draft.put("attention.qk_norm.over", config.code("full", "over all heads at once"))
    _rest(config, draft)
    return n_layers


def _olmo2(config: Config, draft: Draft) -> None:
    _reordered(config, draft)
    rope(config, draft)


def _olmo3(config: Config, draft: Draft) -> None:
    n_layers = _reordered(config, draft)
    draft.put_all(kind_part(config, "half"), "position.")
    everywhere, near = by_layer_type(config, None, 5e5, 5e5)
    axis = parts.windowed(
        config,
        n_layers,
        lambda i: (i + 1) % 4 != 0,
        "each fourth layer sees all",
        {"attention.window": config.count("sliding_window", 4096), **parts.below("position", near)},
        parts.below("position", everywhere),
    )
    draft.layers(config, [axis])


DIALECTS = (
    Dialect("olmo", "olmo", "llama", "OLMo", _olmo),
    Dialect("olmo2", "olmo2", "olmo2", "OLMo 2", _olmo2),
    Dialect("olmo3", "olmo3", "olmo2", "Olmo 3", _olmo3),
)
