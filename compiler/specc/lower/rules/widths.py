"""Rules on the numbers of heads and their widths."""

from __future__ import annotations

from collections.abc import Iterator

from specc.lower import derived
from specc.lower.rules.places import Place, Problem
from specc.spec import schema


def rule_attention(place: Place) -> Iterator[Problem]:
    """Heads divide the width, key/value heads divide the heads, a fused map has one bias."""
    layer = place.layer
    parts = (("attention", layer.attention), ("cross_attention", layer.cross_attention))
    for key, node in parts:
        if isinstance(node, schema.Attention) and key in layer.block.sublayers:
            yield from _heads(place.spec.d_model, key, node)
            yield from _projection(key, node)


def _heads(d_model: int, key: str, node: schema.Attention) -> Iterator[Problem]:
    if node.head_dim is None and d_model % node.n_heads:
        yield Problem(
            (key, "n_heads"),
            f"d_model {d_model} does not divide into {node.n_heads} heads",
            f"take a divisor of {d_model}, or give {key}.head_dim",
        )
    n_kv_heads = derived.n_kv_heads(node)
    if node.n_heads % n_kv_heads:
        yield Problem(
            (key, "n_kv_heads"),
            f"{node.n_heads} heads do not divide over {n_kv_heads} key/value heads",
            "each key/value head serves equally many query heads: n_kv_heads must divide n_heads",
        )


def _projection(key: str, node: schema.Attention) -> Iterator[Problem]:
    if node.projection == "fused" and key == "cross_attention":
        yield Problem(
            (key, "projection"),
            "a fused projection makes q, k and v from one input, but cross-attention has two",
            "write `projection: separate` under cross_attention",
        )
    elif node.projection == "fused" and len({node.bias.q, node.bias.k, node.bias.v}) > 1:
        yield Problem(
            (key, "bias"),
            "a fused projection has one bias, so q, k and v all have one or none has",
            f"make them equal, or write `projection: separate` under {key}",
        )


def rule_missing_parts(place: Place) -> Iterator[Problem]:
    """Every sublayer that the block names is described."""
    layer = place.layer
    parts = {
        "attention": layer.attention,
        "cross_attention": layer.cross_attention,
        "feed_forward": layer.feed_forward,
    }
    for key in layer.block.sublayers:
        if parts[key] is None:
            yield Problem((key,), f"block.sublayers has {key}, but nothing says what it is")


def rule_rotary(place: Place) -> Iterator[Problem]:
    """Features turn in pairs; the long waves of llama3 scaling are longer than the short ones."""
    position, attention = place.layer.position, place.layer.attention
    if not isinstance(position, schema.Rope):
        return
    if isinstance(position.scaling, schema.Llama3Scaling):
        low, high = position.scaling.low_freq_factor, position.scaling.high_freq_factor
        if low >= high:
            yield Problem(
                ("position", "scaling", "low_freq_factor"),
                f"low_freq_factor {low:g} must be below high_freq_factor {high:g}",
            )
    if attention is not None and "attention" in place.layer.block.sublayers:
        yield from _turned(position, derived.turned_head_dim(attention, place.spec.d_model))


def _turned(position: schema.Rope, head_dim: int) -> Iterator[Problem]:
    turned = derived.rotary_dim(position, head_dim)
    whole = position.fraction == 1.0
    what = (
        f"head_dim {head_dim}" if whole else f"{turned} = int({head_dim} * {position.fraction:g})"
    )
    path = ("attention", "head_dim") if whole else ("position", "fraction")
    if turned == 0:
        yield Problem(path, f"rotary positions would turn no feature: {what}")
    elif turned % 2:
        yield Problem(path, f"rotary positions turn features in pairs, but {what} is odd")
