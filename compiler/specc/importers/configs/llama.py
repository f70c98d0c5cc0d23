"""Llama and those who kept its words: Mistral, Qwen 2 and 3, Granite, SmolLM3."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Cited, Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Axis, Draft
from specc.importers.rope import rope


def block(
    config: Config,
    draft: Draft,
    *,
    theta: float = 10000.0,
    eps: float = 1e-6,
    n_kv_heads: int | None = None,
    head_dim: int | None = None,
) -> int:
    """What they all share, attention's biases and the feed-forward apart."""
    n_layers = parts.sizes(config, draft)
    rope(config, draft, theta=theta)
    parts.rms_norm(config, draft, default=eps)
    parts.block(config, draft)
    parts.heads(config, draft, n_kv_heads=n_kv_heads, head_dim=head_dim)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    parts.init(config, draft)
    return n_layers


def _llama(config: Config, draft: Draft) -> None:
    block(config, draft)
    config.expect("rope_interleaved", False, "the library pairs features half a head apart")
    parts.attention(config, draft)
    parts.gated(config, draft, config.flag("mlp_bias", False))
    parts.language_model(config, draft, tied=False)


def _mistral(config: Config, draft: Draft) -> None:
    block(config, draft, n_kv_heads=8)
    parts.attention(config, draft, parts.biases(parts.no_bias(config)))
    draft.put("attention.window", config.optional_count("sliding_window", 4096))
    parts.gated(config, draft, parts.no_bias(config))
    parts.language_model(config, draft, tied=False)


def _qwen2(config: Config, draft: Draft) -> None:
    n_layers = block(config, draft, n_kv_heads=32)
    bias = config.code(True, "q, k and v have a bias, the output map has none")
    parts.attention(config, draft, parts.biases(bias, "qkv"))
    _late_windows(config, draft, n_layers)
    parts.gated(config, draft, parts.no_bias(config))
    parts.language_model(config, draft, tied=False)


def _qwen3(config: Config, draft: Draft) -> None:
    n_layers = block(config, draft, n_kv_heads=32, head_dim=128)
    parts.attention(config, draft)
    parts.head_norms(config, draft)
    _late_windows(config, draft, n_layers)
    parts.gated(config, draft, parts.no_bias(config))
    parts.language_model(config, draft, tied=False)


def _late_windows(config: Config, draft: Draft, n_layers: int) -> None:
    """A window from layer max_window_layers on, if use_sliding_window says so."""
    window = used_window(config, 4096)
    first = config.whole("max_window_layers", 28)
    axis = parts.windowed(
        config,
        n_layers,
        lambda i: window is not None and i >= first.value,
        "a window from layer max_window_layers on",
        {} if window is None else {"attention.window": window},
        {},
    )
    if window is None and "local" in axis.names:
        config.refuse("layer_types", "some layers have a window, and use_sliding_window is false")
    draft.layers(config, [axis])


def used_window(config: Config, default: int | None = None) -> Cited[int] | None:
    """The window, if use_sliding_window is true."""
    if config.flag("use_sliding_window", False).value:
        return config.optional_count("sliding_window", default)
    config.ignore({"sliding_window": "use_sliding_window is false"})
    return None


def _granite(config: Config, draft: Draft) -> None:
    block(config, draft)
    draft.put("embedding.scale", config.number("embedding_multiplier", 1.0))
    key = "residual_multiplier"
    parts.factor(config, draft, "block.residual_multiplier", key, config.number(key, 1.0))
    parts.attention(config, draft)
    draft.put("attention.scale", config.number("attention_multiplier", 1.0))
    parts.gated(config, draft, config.flag("mlp_bias", False))
    parts.language_model(config, draft, tied=False)
    divisor = config.number("logits_scaling", 1.0)
    share = divisor.but(1 / divisor.value if divisor.value else 1.0, "logits are divided by it")
    parts.factor(config, draft, "head.out_multiplier", "logits_scaling", share)


def _smollm3(config: Config, draft: Draft) -> None:
    n_layers = block(config, draft, theta=2e6, n_kv_heads=4)
    never_read(config, "max_window_layers")
    parts.attention(config, draft)
    turned = turned_layers(config, n_layers)
    window = used_window(config)
    sliding = parts.windowed(
        config,
        n_layers,
        lambda i: window is not None and turned.names[i] == "nope",
        "a window, where there is one, on the layers without positions",
        {} if window is None else {"attention.window": window},
        {},
    )
    if window is None:
        sliding = Axis(("global",) * n_layers, sliding.at, sliding.parts)
    draft.layers(config, [turned, sliding])
    parts.gated(config, draft, config.flag("mlp_bias", False))
    parts.language_model(config, draft, tied=True)


def turned_layers(config: Config, n_layers: int) -> Axis:
    """Layers with and without rotary positions: 1 in no_rope_layers means with."""
    said = config.counts("no_rope_layers")
    interval = config.count("no_rope_layer_interval", 4)
    if said is None:
        because = "each no_rope_layer_interval-th layer knows no positions"
        said = interval.but([int((i + 1) % interval.value != 0) for i in range(n_layers)], because)
    elif len(said.value) != n_layers and not config.log.problems:
        message = f"no_rope_layers speaks of {len(said.value)} layers, and there are {n_layers}"
        config.refuse("no_rope_layers", message)
    names = tuple("rope" if each else "nope" for each in said.value)
    without = {"position.kind": config.code("none", "these layers turn nothing")}
    return Axis(names, said.at, {"rope": {}, "nope": without}, said.because)


DIALECTS = (
    Dialect("llama", "llama", "llama", "Llama", _llama),
    Dialect("mistral", "mistral", "llama", "Mistral", _mistral),
    Dialect("qwen2", "qwen2", "llama", "Qwen2", _qwen2),
    Dialect("qwen3", "qwen3", "llama", "Qwen3", _qwen3),
    Dialect("granite", "granite", "llama", "Granite", _granite),
    Dialect("smollm3", "smollm3", "llama", "SmolLM3", _smollm3),
)
