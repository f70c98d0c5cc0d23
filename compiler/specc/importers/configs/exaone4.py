"""EXAONE 4: sublayers normed at their outputs; with a window, layers that see all turn nothing."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.config import Cited, Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import rope


def _exaone4(config: Config, draft: Draft) -> None:
    n_layers = parts.sizes(config, draft)
    rope(config, draft)
    parts.rms_norm(config, draft, default=1e-5)
    parts.block(config, draft, "post_sublayer")
    parts.heads(config, draft, n_kv_heads=32)
    parts.attention(config, draft, parts.biases(parts.no_bias(config)))
    parts.head_norms(config, draft)
    parts.gated(config, draft, parts.no_bias(config))
    parts.language_model(config, draft, tied=False)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    parts.init(config, draft)
    _windows(config, draft, n_layers)


def _windows(config: Config, draft: Draft, n_layers: int) -> None:
    window = config.optional_count("sliding_window", 4096)
    if config.has("layer_types") or window is None:
        step = None  # a number, or a text such as LLLG
        config.ignore({"sliding_window_pattern": "layer_types or the lack of a window decides"})
    else:
        step = config.count("sliding_window_pattern", 4)
    axis = parts.windowed(
        config,
        n_layers,
        lambda i: step is not None and (i + 1) % step.value != 0,
        "no window" if step is None else f"each {step.value}th layer sees all",
        {} if window is None else {"attention.window": window},
        {} if window is None else {"position.kind": _none(config)},
    )
    if window is None and "local" in axis.names:
        config.refuse("layer_types", "some layers have a window, and sliding_window is null")
    draft.layers(config, [axis])


def _none(config: Config) -> Cited[str]:
    return config.code("none", "beside layers with a window, layers that see all turn nothing")


DIALECTS = (Dialect("exaone4", "exaone4", "olmo2", "EXAONE 4", _exaone4),)
