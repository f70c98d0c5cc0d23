"""The features that the support matrix crosses: a declared table of fields of the language and the
values of each that differ in kind, every value as the piece of a spec that says it.

The first value of a feature is the plain one, which goes with all others that can be.
"""

from __future__ import annotations

from dataclasses import dataclass

from specc.verify.random_specs.yaml_text import Tree


@dataclass(frozen=True)
class Feature:
    """A name, and pieces of a spec by the words for them."""

    name: str
    values: dict[str, Tree]


def base() -> Tree:
    """The spec that the pieces are merged into; kind and position are features."""
    return {
        "specc": 1,
        "name": "m",
        "vocab_size": 11,
        "d_model": 16,
        "n_layers": 3,
        "max_seq_len": 13,
        "attention": {"n_heads": 4},
        "feed_forward": {"d_ff": 7},
    }


_SEPARATE = {"projection": "separate"}  # attention over a memory cannot fuse its projections

KIND = Feature(
    "kind",
    {
        "decoder": {"kind": "decoder"},
        "encoder": {"kind": "encoder"},
        "encoder_decoder": {"kind": "encoder_decoder", "cross_attention": _SEPARATE},
        # Self-attention too, or what is said of it would go with everything.
        "features": {
            "kind": "features",
            "vocab_size": None,
            "cross_attention": _SEPARATE,
            "block": {"sublayers": ["attention", "cross_attention", "feed_forward"]},
        },
    },
)


def _under(key: str, **values: object) -> dict[str, Tree]:
    return {word.replace("_", " "): {key: value} for word, value in values.items()}


def _llama3() -> Tree:
    factors = {"factor": 8, "low_freq_factor": 1, "high_freq_factor": 4}
    return {"kind": "llama3", **factors, "original_max_seq_len": 8}


def _longrope() -> Tree:
    """For the one pair that half of a head of four features has: see `base`."""
    return {
        "kind": "longrope",
        "short_factors": [1.5],
        "long_factors": [4],
        "original_max_seq_len": 8,
    }


def _second(**override: object) -> Tree:
    return {"layers": {"pattern": ["a", "b"], "types": {"a": {}, "b": override}}}


_WIDE = {"feed_forward": {"d_ff": 9}}
_POOLED = {"kind": "classifier", "n_classes": 3}
_ROPE = {"kind": "rope"}
_STRETCH = {"factor": 2, "original_max_seq_len": 8}
_GLU = {"kind": "glu", "activation": "silu"}

_EXPERTS = {"kind": "experts", "n_experts": 6, "top_k": 2, "activation": "silu"}
_SIGMOID = {"score": "sigmoid", "selection_bias": True, "renormalise": True, "scale": 2.5}
_GROUPS = {"n_groups": 3, "n_kept": 1, "score": "top2_sum", "fill": "minus_infinity"}

FEATURES: tuple[Feature, ...] = (
    KIND,
    Feature(
        "norm",
        _under(
            "norm",
            layer={"kind": "layer"},
            layer_without_bias={"kind": "layer", "bias": False},
            rms={"kind": "rms"},
            rms_one_plus_w={"kind": "rms", "weight": "one_plus_w", "cast": "after_weight"},
            rms_without_weight={"kind": "rms", "weight": "none"},
        ),
    ),
    Feature(
        "norm placement",
        {
            word.replace("_", " "): {"block": {"norm_placement": word}}
            for word in ("pre", "post", "sandwich", "post_sublayer")
        },
    ),
    Feature(
        "wiring",
        {
            "sequential": {},
            "parallel": {"block": {"wiring": "parallel"}},
            "parallel, one norm": {"block": {"wiring": "parallel", "shared_norm": True}},
        },
    ),
    Feature(
        "sublayers",
        {
            "usual": {},
            "feed-forward first": {"block": {"sublayers": ["feed_forward", "attention"]}},
            "feed-forward last of three": {
                "block": {"sublayers": ["attention", "cross_attention", "feed_forward"]}
            },
        },
    ),
    Feature(
        "position",
        _under(
            "position",
            none={"kind": "none"},
            sinusoidal={"kind": "sinusoidal"},
            sinusoidal_concat={"kind": "sinusoidal", "layout": "concat", "frequency": "k/(half-1)"},
            learned={"kind": "learned"},
            learned_with_offset={"kind": "learned", "offset": 2, "index": "arange"},
            rope=_ROPE,
            rope_interleaved={**_ROPE, "layout": "interleaved", "index": "arange"},
            rope_on_half={**_ROPE, "fraction": 0.5},
            rope_linear={**_ROPE, "scaling": {"kind": "linear", "factor": 2}},
            rope_llama3={**_ROPE, "scaling": _llama3()},
            rope_on_the_last_half={**_ROPE, "fraction": 0.5, "slice": "last"},
            rope_dynamic={**_ROPE, "scaling": {"kind": "dynamic", **_STRETCH}},
            rope_yarn={**_ROPE, "scaling": {"kind": "yarn", **_STRETCH}},
            rope_longrope={**_ROPE, "fraction": 0.5, "scaling": _longrope()},
            rope_proportional={**_ROPE, "fraction": 0.5, "scaling": {"kind": "proportional"}},
            alibi={"kind": "alibi"},
        ),
    ),
    Feature(
        "key/value heads",
        {
            "as many": {},
            "grouped": {"attention": {"n_kv_heads": 2}},
            "one": {"attention": {"n_kv_heads": 1}},
        },
    ),
    Feature(
        "head width",
        {"of d_model": {}, "own": {"attention": {"head_dim": 6}}},
    ),
    Feature(
        "projection",
        {
            "separate": {},
            "fused": {"attention": {"projection": "fused"}},
        },
    ),
    Feature(
        "attention bias",
        {
            "none": {},
            "all": {"attention": {"bias": True}},
            "q, k, v": {"attention": {"bias": {"q": True, "k": True, "v": True}}},
            "v": {"attention": {"bias": {"v": True}}},
        },
    ),
    Feature(
        "attention scale",
        {
            "head width": {},
            "one": {"attention": {"scale": "one"}},
            "number": {"attention": {"scale": 0.3}},
            "other width": {"attention": {"scale": {"inv_sqrt": 16}}},
        },
    ),
    Feature(
        "query-key norm",
        {
            "none": {},
            "rms": {"attention": {"qk_norm": {"kind": "rms"}}},
            "rms, before the split": {"attention": {"qk_norm": {"kind": "rms", "over": "full"}}},
            "rms, heads apart": {"attention": {"qk_norm": {"kind": "rms", "over": "per_head"}}},
            "rms, after the turn": {
                "attention": {"qk_norm": {"kind": "rms", "when": "after_rotary"}}
            },
            "layer": {"attention": {"qk_norm": {"kind": "layer"}}},
            "l2": {"attention": {"qk_norm": {"kind": "l2"}}},
            "l2, temperature": {
                "attention": {"qk_norm": {"kind": "l2", "temperature": "per_head"}}
            },
        },
    ),
    Feature(
        "reach",
        {
            "all": {},
            "window": {"attention": {"window": 4}},
            "chunk": {"attention": {"chunk": 4}},
        },
    ),
    Feature(
        "scores",
        {
            "plain": {},
            "softcap": {"attention": {"softcap": 2.0}},
            "sinks": {"attention": {"sinks": True}},
            "both": {"attention": {"softcap": 2.0, "sinks": True}},
            "by layer": {"attention": {"scale_by_layer": True}},
            "by position": {"attention": {"temperature": {"floor": 3, "coefficient": 0.5}}},
        },
    ),
    Feature(
        "heads' output",
        {
            "plain": {},
            "gated": {"attention": {"gate": "sigmoid"}},
            "clipped": {"attention": {"clip_qkv": 0.8}},
        },
    ),
    Feature(
        "residual",
        {
            "raw": {},
            "normed": {"block": {"residual": "normed"}},
            "multiplied": {"block": {"residual_multiplier": 0.5}},
            "layer scale": {"block": {"layer_scale": 0.1}},
        },
    ),
    Feature(
        "feed-forward",
        _under(
            "feed_forward",
            relu={"activation": "relu"},
            relu_squared={"activation": "relu_squared"},
            gelu={"activation": "gelu_erf", "bias": True},
            gelu_tanh={"activation": "gelu_tanh", "bias": {"down": True}},
            swiglu=_GLU,
            geglu={"kind": "glu", "activation": "gelu_erf", "bias": True},
            relu_squared_glu={"kind": "glu", "activation": "relu_squared"},
            clamped_swiglu={**_GLU, "clamp": {}},
            experts={**_EXPERTS, "top_k": 1, "shared": {"d_ff": 5, "gate": "sigmoid"}},
            experts_by_softmax_of_the_chosen={**_EXPERTS, "score": "topk_softmax", "bias": True},
            experts_in_groups={**_EXPERTS, **_SIGMOID, "groups": _GROUPS},
        ),
    ),
    Feature(
        "embedding",
        {
            "plain": {},
            "scaled": {"embedding": {"scale": "sqrt_d_model"}},
            "normed": {"embedding": {"norm": True, "scale": 0.5}},
            "token types": {"embedding": {"types": 2}},
            "shared": {"embedding": {"shared": True}},
            "narrow": {"embedding": {"width": 6, "project": {"at": "before_position"}}},
            "narrow, with its norm": {
                "embedding": {"width": 6, "norm": True, "project": {"at": "after_norm"}}
            },
            "padded": {"embedding": {"padded_vocab_size": 16}},
        },
    ),
    Feature(
        "head",
        {
            "features": {"head": "features"},
            "language model": {"head": "language_model"},
            "language model, bias": {"head": {"kind": "language_model", "bias": True}},
            "tied": {"head": {"kind": "language_model", "tied": True}},
            "tied, bias": {"head": {"kind": "language_model", "tied": True, "bias": True}},
            "capped": {"head": {"kind": "language_model", "out_multiplier": 0.5, "softcap": 3.0}},
            "masked": {"head": {"kind": "masked_language_model", "activation": "gelu_erf"}},
            "classifier": {"head": {**_POOLED, "pool": "mean"}},
            "several": {
                "head": ["features", {**_POOLED, "pool": "first", "pooler": "tanh", "name": "c"}]
            },
        },
    ),
    Feature(
        "final norm",
        {"usual": {}, "always": {"final_norm": True}, "never": {"final_norm": False}},
    ),
    Feature(
        "layer types",
        {
            "one": {},
            "norm places": _second(block={"norm_placement": "sandwich"}),
            "no position": _second(position={"kind": "none"}),
            "own theta": _second(position={**_ROPE, "theta": 500.0}),
            "heads": _second(attention={"n_kv_heads": 1}),
            "widths": _second(feed_forward={"d_ff": 9}),
            "norms": _second(norm={"kind": "rms", "eps": 1e-3}),
            "windows": _second(attention={"window": 3}),
            "norms left out": _second(block={"skip_norms": ["attention"]}),
            "one of its own first": {
                "layers": {"pattern": [{"a": 1}, {"b": 2}], "types": {"a": _WIDE, "b": {}}}
            },
            "without feed-forward": _second(block={"sublayers": ["attention"]}),
        },
    ),
    Feature(
        "stacks",
        {
            "alike": {},
            "other depth": {"encoder": {"n_layers": 1}},
            "other parts": {
                "encoder": {"norm": {"kind": "rms"}, "attention": {"n_heads": 2}},
                "decoder": {"feed_forward": {"d_ff": 5}, "final_norm": True},
            },
            "other position": {"encoder": {"position": {"kind": "learned"}}},
        },
    ),
    Feature(
        "cache",
        {
            "no": {"features": []},
            "yes": {"features": ["cache"]},
            "cpu": {"features": ["cache", "cpu_decode"]},
        },
    ),
    Feature("attention weights", {"no": {}, "yes": {"outputs": ["attention_weights"]}}),
    Feature("dropout", {"none": {}, "everywhere": {"dropout": 0.1}}),
    Feature(
        "init",
        {
            "normal": {},
            "depth scaled": {"init": {"outputs": "depth_scaled"}},
            "xavier": {"init": "xavier_uniform"},
            "torch, zero outputs": {"init": {"kind": "torch", "outputs": "zero"}},
        },
    ),
)
