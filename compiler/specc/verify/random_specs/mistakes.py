"""Strategies for specs with a mistake in them: one edit that people make, or that no one should."""

from __future__ import annotations

from copy import deepcopy

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from specc.verify.random_specs.yaml_text import Tree, Value

# (path, what is written there)
EDITS: tuple[tuple[tuple[str, ...], Value], ...] = (
    (("attention", "n_heads"), 5),
    (("attention", "n_heads"), "d_model / 3"),
    (("attention", "n_heads"), "n_kv_heads"),
    (("attention", "n_kv_heads"), 4),
    (("attention", "n_kv_heads"), "2 * n_heads"),
    (("attention", "head_dim"), 3),
    (("attention", "head_dim"), 0),
    (("attention", "bias"), {"q": True, "k": False}),
    (("attention", "projection"), "fused"),
    (("attention", "scale"), -1.0),
    (("attention", "scale"), {"inv_sqrt": "head_dim / 2"}),
    (("attention", "qk_norm"), {"over": "full", "temperature": "per_head"}),
    (("attention", "qk_norm"), {"kind": "rms", "bias": True}),
    (("attention", "window"), 4),
    (("attention",), None),
    (("attention",), 8),
    (("cross_attention",), {"n_heads": 1}),
    (("cross_attention", "projection"), "fused"),
    (("position",), {"kind": "alibi"}),
    (("position",), {"kind": "rope", "fraction": 0.3}),
    (("position",), "rotary"),
    (("position",), None),
    (("position", "theta"), 0),
    (("position", "offset"), 2),
    (("block",), {}),
    (("block", "wiring"), "parallel"),
    (("block", "shared_norm"), True),
    (("block", "sublayers"), ["attention", "attention"]),
    (("block", "sublayers"), ["cross_attention"]),
    (("block", "sublayers"), ["attention"]),
    (("block", "sublayers"), []),
    (("block", "norm_placement"), "post"),
    (("norm",), {"kind": "rms", "bias": True}),
    (("norm",), {"kind": "layer", "cast": "after_weight"}),
    (("norm", "eps"), 0.0),
    (("norm", "eps"), "tiny"),
    (("norm",), "batch"),
    (("norm",), None),
    (("feed_forward",), None),
    (("feed_forward", "d_ff"), "4 * d_modle"),
    (("feed_forward", "d_ff"), "d_ff + 1"),
    (("feed_forward", "d_ff"), 2.5),
    (("feed_forward", "activation"), "swiglu"),
    (("feed_forward", "kind"), "experts"),
    (("feed_forward", "top_k"), 99),
    (("feed_forward", "clamp"), {}),
    (("feed_forward", "groups"), {"n_groups": 5, "n_kept": 2}),
    (("feed_forward", "renorm_eps"), 1e-6),
    (("feed_forward", "bias"), {"gate": True}),
    (("embedding", "types"), 2),
    (("embedding", "shared"), True),
    (("embedding", "scale"), 0),
    (("embedding", "norm"), {"cast": "native"}),
    (("head",), []),
    (("head",), ["language_model", "masked_language_model"]),
    (("head",), ["features", {"kind": "classifier", "pool": "mean", "n_classes": 2}]),
    (("head",), {"kind": "classifier", "pool": "mean", "n_classes": 2, "name": "forward"}),
    (("head",), [{"kind": "classifier", "pool": "mean", "n_classes": 2, "name": "norm"}]),
    (("head",), {"tied": True}),
    (("head",), {"kind": "language_model", "pool": "first"}),
    (("features",), ["cache"]),
    (("features",), ["generate"]),
    (("features",), ["cache", "cache"]),
    (("outputs",), ["attention_weights"]),
    (("init",), {"kind": "torch", "outputs": "depth_scaled"}),
    (("init",), {"std": 0}),
    (("dropout",), 1.0),
    (("dropout", "residual"), 0.1),
    (("encoder",), {"n_layers": 2}),
    (("decoder",), {"position": {"kind": "alibi"}}),
    (("encoder",), {"block": {"sublayers": ["attention", "cross_attention"]}}),
    (("layers",), {"types": {"a": {}, "b": {}}}),
    (("layers",), {"pattern": ["a", "b"], "types": {"a": {}}}),
    (("layers",), {"pattern": ["a"], "types": {"a": {"position": {"kind": "none"}}}}),
    (("layers",), {"pattern": ["a"], "types": {"a": {"attention": {"n_heads": 7}}}}),
    (("layers",), {"pattern": ["a", "a"], "types": {"a": None}}),
    (("layers",), {"pattern": ["A"], "types": {"A": {}}}),
    (("layers",), {"pattern": [], "types": {}}),
    (("style",), "post-norm, pre-norm"),
    (("style",), "tied"),
    (("style",), "encoder, mqa, qk-norm"),
    (("style",), ""),
    (("kind",), "decoder"),
    (("kind",), "encoder"),
    (("kind",), "encoder_decoder"),
    (("kind",), "features"),
    (("n_layers",), 0),
    (("n_layers",), "d_ff"),
    (("d_model",), 1),
    (("d_model",), 2**31),
    (("d_model",), True),
    (("max_seq_len",), 0),
    (("max_seq_len",), 12),  # as long as the longest text of a trial, and shorter than drawn
    (("vocab_size",), "vocab_size"),
    (("vocab_size",), 1),
    (("name",), "class"),
    (("name",), "torch"),
    (("class",), "Config"),
    (("class",), "Block"),
    (("class",), "LayerNorm"),
    (("title",), ""),
    (("specc",), 2),
    (("claims",), {"parameters": 65e6}),
    (("ledger",), {"norm.epsilon": {"status": "stated"}}),
    (("ledger",), {"norm.eps": {"status": "unstated", "choice": 0.25}}),
)


@st.composite
def mistaken(draw: DrawFn, tree: Tree) -> Tree:
    """The spec with one edit made, or with a key left out."""
    if draw(st.booleans()):
        return edited(tree, *draw(st.sampled_from(EDITS)))
    found = deepcopy(tree)
    place = found
    inner: list[str] = [key for key, value in found.items() if isinstance(value, dict) and value]
    if len(inner) > 0 and draw(st.booleans()):
        place = found[draw(st.sampled_from(inner))]
    del place[draw(st.sampled_from(sorted(place)))]
    return found


def edited(tree: Tree, path: tuple[str, ...], value: Value) -> Tree:
    """A copy with that value at that path; words in the way become mappings."""
    found = deepcopy(tree)
    place = found
    for step in path[:-1]:
        inner = place.get(step)
        place[step] = inner if isinstance(inner, dict) else {}
        place = place[step]
    place[path[-1]] = deepcopy(value)
    return found
