"""Gemma 1, 2 and the text models of Gemma 3: gains of 1 + w, rows times the root of the width."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Cited, Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Axis, Draft, Part
from specc.importers.rope import kind_part, parameters, rope, rope_part


def _shared(config: Config, draft: Draft, placement: str, n_kv_heads: int) -> int:
    n_layers = parts.sizes(config, draft)
    scaled = config.code("sqrt_d_model", "token rows are multiplied by the root of the width")
    draft.put("embedding.scale", scaled)
    parts.rms_norm(config, draft, cast="after_weight", weight="one_plus_w")
    parts.block(config, draft, placement)
    parts.heads(config, draft, n_kv_heads=n_kv_heads, head_dim=256)
    parts.attention(config, draft)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    parts.init(config, draft)
    lacks = "attention to both sides in a decoder is not in the vocabulary"
    if config.has("use_bidirectional_attention"):
        config.expect("use_bidirectional_attention", False, lacks)
    config.ignore({"use_bidirectional_attention": "causal"})
    parts.language_model(config, draft, tied=True)
    return n_layers


def _gemma(config: Config, draft: Draft) -> None:
    _shared(config, draft, "pre", 16)
    rope(config, draft)
    parts.gated(config, draft, parts.no_bias(config), default="gelu_pytorch_tanh")
    _coerce(draft)
    never_read(config, "hidden_activation")


def _coerce(draft: Draft) -> None:
    """The word gelu means the tanh form here: early files were written with the wrong one."""
    said = draft.citations["feed_forward.activation"]
    if said.value == "gelu_erf":
        because = "gelu in these configs means the tanh form, and the library takes it so"
        draft.put("feed_forward.activation", said.but("gelu_tanh", because))


def _query_scale(config: Config, draft: Draft) -> None:
    """Scores are divided by the root of query_pre_attn_scalar."""
    said = config.count("query_pre_attn_scalar", 256)
    width = draft.citations["attention.head_dim"].value
    because = "scores are divided by its root"
    is_width = said.value == width
    scale = "inv_sqrt_head_dim" if is_width else {"inv_sqrt": said.value}
    draft.put("attention.scale", Cited(scale, said.at, because))


def _gemma2(config: Config, draft: Draft) -> None:
    n_layers = _shared(config, draft, "sandwich", 4)
    rope(config, draft)
    _gelu(config, draft)
    _query_scale(config, draft)
    draft.put("attention.softcap", config.optional_number("attn_logit_softcapping", 50.0))
    draft.put("head.softcap", config.optional_number("final_logit_softcapping", 30.0))
    local = {"attention.window": config.count("sliding_window", 4096)}
    why = "every other layer has a window, the first one too"
    draft.layers(config, [parts.windowed(config, n_layers, lambda i: i % 2 == 0, why, local, {})])


def _gelu(config: Config, draft: Draft) -> None:
    parts.gated(
        config, draft, parts.no_bias(config), "hidden_activation", default="gelu_pytorch_tanh"
    )
    never_read(config, "hidden_act")


def _gemma3(config: Config, draft: Draft) -> None:
    n_layers = _shared(config, draft, "sandwich", 4)
    _gelu(config, draft)
    _query_scale(config, draft)
    parts.head_norms(config, draft)
    never_read(config, "attn_logit_softcapping")
    draft.put("head.softcap", config.optional_number("final_logit_softcapping"))
    draft.put_all(kind_part(config, "half"), "position.")
    draft.layers(config, [_by_angle(config, n_layers)])


def _by_angle(config: Config, n_layers: int) -> Axis:
    """Five local layers to a global one, each kind with angles of its own."""
    everywhere, near = by_layer_type(config, "rope_local_base_freq", 1e6, 1e4)
    window = config.count("sliding_window", 4096)
    config.rename({"_sliding_window_pattern": "sliding_window_pattern"})
    step = config.count("sliding_window_pattern", 6)
    return parts.windowed(
        config,
        n_layers,
        lambda i: (i + 1) % step.value != 0,
        f"each {step.value}th layer sees all",
        {"attention.window": window, **parts.below("position", near)},
        parts.below("position", everywhere),
    )


def by_layer_type(
    config: Config, local_key: str | None, theta: float, local_theta: float
) -> tuple[Part, Part]:
    """The rotary parts of layers that see all and of those with a window. What older configs say
    outside rope_parameters is about the former, but for `local_key`.
    """
    inner = parameters(config)
    nested = inner is not None and (inner.has("full_attention") or inner.has("sliding_attention"))
    full = inner.inner("full_attention") if nested and inner is not None else inner
    near = inner.inner("sliding_attention") if nested and inner is not None else None
    everywhere = rope_part(config, full, theta=theta)
    if local_key is None:
        local = rope_part(config.empty(), near, theta=local_theta)
    else:
        local = rope_part(config, near, theta=local_theta, theta_key=local_key)
    return everywhere, local


DIALECTS = (
    Dialect("gemma", "gemma", "llama", "Gemma", _gemma),
    Dialect("gemma2", "gemma2", "gemma2", "Gemma 2", _gemma2),
    Dialect("gemma3_text", "gemma3", "gemma2", "Gemma 3", _gemma3),
)
