"""Command R and R7B: parallel sublayers behind one norm without shift, logits scaled."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import rope


def _shared(config: Config, draft: Draft, theta: float) -> int:
    n_layers = parts.sizes(config, draft)
    rope(config, draft, theta=theta, layout="interleaved")
    parts.layer_norm(config, draft, config.number("layer_norm_eps", 1e-5), bias=False)
    parts.block(config, draft, wiring="parallel", shared_norm=True)
    parts.heads(config, draft)
    parts.attention(config, draft)
    parts.gated(config, draft, parts.no_bias(config))
    parts.language_model(config, draft, tied=True)
    said = config.number("logit_scale", 0.0625)
    parts.factor(config, draft, "head.out_multiplier", "logit_scale", said)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    parts.init(config, draft)
    return n_layers


def _cohere(config: Config, draft: Draft) -> None:
    _shared(config, draft, 5e5)
    normed = config.flag("use_qk_norm", False)
    if normed.value:
        parts.norms_by_head(config, draft, normed)


def _cohere2(config: Config, draft: Draft) -> None:
    n_layers = _shared(config, draft, 1e4)
    step = config.count("sliding_window_pattern", 4)
    axis = parts.windowed(
        config,
        n_layers,
        lambda i: (i + 1) % step.value != 0,
        f"each {step.value}th layer sees all",
        {"attention.window": config.count("sliding_window", 4096)},
        {"position.kind": config.code("none", "layers that see all turn nothing")},
    )
    draft.layers(config, [axis])
    never_read(
        config,
        "layer_switch",
        "order_of_interleaved_layers",
        "position_embedding_type",
        "rotary_pct",
        "use_gated_activation",
        "use_parallel_block",
        "use_parallel_embedding",
        "use_embedding_sharing",
    )
    config.expect("use_qk_norm", False, "the library has no such norms in these models")


DIALECTS = (
    Dialect("cohere", "cohere", "cohere", "Command R", _cohere),
    Dialect("cohere2", "cohere2", "cohere", "Command R7B", _cohere2),
)
