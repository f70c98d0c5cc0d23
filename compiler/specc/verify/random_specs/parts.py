"""Strategies for the parts of a layer: norms, positions, attention, feed-forward.

Every draw shrinks towards the shortest spelling: a field left out, a word in place of a mapping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from specc.verify.random_specs.experts import clamps, mixtures
from specc.verify.random_specs.yaml_text import Tree, Value

Draws = SearchStrategy[Any]
NARROWEST = 5  # norms of fewer features divide by almost nothing now and then
TABLE_KINDS = ("sinusoidal", "learned")  # of a whole stack; the others are a layer type's own

_EPS = st.sampled_from([1e-6, 1e-5, 1e-12, 1e-3, 0.1])
_WEIGHT = st.sampled_from(["w", "one_plus_w", "none"])
_INDEX = st.sampled_from(["mask", "arange"])
_FLAG = st.booleans()


@dataclass(frozen=True)
class Sizes:
    """What the parts of one spec must fit: `head_dim` is written only where `own_head_dim`."""

    d_model: int
    n_heads: int
    head_dim: int
    own_head_dim: bool


def sizes(even: bool) -> SearchStrategy[Sizes]:
    """Small and awkward widths; `even`: a head's width is even, as rotary positions need."""
    widths = (4, 2, 6, 10) if even else (3, 5, 4, 7, 2)

    def make(n_heads: int, head_dim: int, own: int | None) -> Sizes:
        d_model = own or n_heads * head_dim
        if d_model < NARROWEST:
            return Sizes(NARROWEST, n_heads, head_dim, True)
        return Sizes(d_model, n_heads, head_dim, own is not None)

    own = st.none() | st.integers(NARROWEST, 13)
    return st.builds(make, st.sampled_from((2, 1, 3, 4, 6)), st.sampled_from(widths), own)


def some(required: dict[str, Draws], **optional: Draws) -> SearchStrategy[Tree]:
    """A mapping with the required fields and any of the optional ones."""
    return st.fixed_dictionaries(required, optional=optional)


def norms() -> Draws:
    """A norm as a word or a mapping."""
    layer = some({"kind": st.just("layer")}, **_layer_norm())
    rms = some({"kind": st.just("rms")}, **_rms_norm())
    return st.one_of(st.just("layer"), st.just("rms"), some({}, eps=_EPS), layer, rms)


def _layer_norm() -> dict[str, Draws]:
    return {"eps": _EPS, "weight": _WEIGHT, "bias": _FLAG, "cast": st.just("native")}


def _rms_norm() -> dict[str, Draws]:
    casts = st.sampled_from(["before_weight", "after_weight"])
    return {"eps": _EPS, "weight": _WEIGHT, "bias": st.just(False), "cast": casts}


def derived_norms() -> Draws:
    """A norm that starts from the base norm."""
    return st.one_of(st.just(True), some({}, eps=_EPS, weight=_WEIGHT), norms())


def positions(fit: Sizes, *kinds: str) -> SearchStrategy[Tree]:
    """A position of one of these kinds, always a mapping."""
    frequencies = ["2k/d", "k/(half-1)"] if fit.d_model % 2 == 0 and fit.d_model > 2 else ["2k/d"]
    drawn: dict[str, SearchStrategy[Tree]] = {
        "none": some({"kind": st.just("none")}),
        "sinusoidal": some(
            {"kind": st.just("sinusoidal")},
            layout=st.sampled_from(["interleaved", "concat"]),
            frequency=st.sampled_from(frequencies),
            index=_INDEX,
        ),
        "learned": some({"kind": st.just("learned")}, offset=st.integers(0, 3), index=_INDEX),
        "alibi": some({"kind": st.just("alibi")}),
        "rope": _rope(fit),
    }
    return st.one_of([drawn[kind] for kind in kinds])


def _rope(fit: Sizes) -> SearchStrategy[Tree]:
    parts: list[float | str] = [1.0, 0.5, 0.34, "50%", 0.75]
    fitting = [each for each in parts if _turned(fit, each) > 0 and _turned(fit, each) % 2 == 0]
    return some(
        {"kind": st.just("rope")},
        theta=st.sampled_from([10000, 100, 1e6, 500.5]),
        layout=st.sampled_from(["half", "interleaved"]),
        fraction=st.sampled_from(fitting or [1.0]),
        scaling=_scaling(),
        index=_INDEX,
    )


def _turned(fit: Sizes, fraction: float | str) -> int:
    return int(fit.head_dim * (0.5 if isinstance(fraction, str) else fraction))


def _scaling() -> Draws:
    factor = st.sampled_from([2, 2.5, 8.0])
    linear = some({"factor": factor})
    llama3 = some(
        {
            "factor": factor,
            "low_freq_factor": st.sampled_from([1, 0.5]),
            "high_freq_factor": st.sampled_from([4, 1.5]),
            "original_max_seq_len": st.sampled_from([8, 64, "2 * max_seq_len"]),
        }
    )
    return st.one_of(
        linear.map(lambda node: {"linear": node}),
        linear.map(lambda node: {"kind": "linear", **node}),
        llama3.map(lambda node: {"llama3": node}),
        llama3.map(lambda node: {"kind": "llama3", **node}),
    )


def attention_options(fit: Sizes, can_fuse: bool) -> SearchStrategy[Tree]:
    """What attention may have beside its number of heads."""
    divisors = [n for n in range(1, fit.n_heads + 1) if fit.n_heads % n == 0]
    separate = some(
        {},
        n_kv_heads=st.sampled_from([*divisors, "n_heads"]),
        bias=attention_biases(),
        scale=_scales(),
        qk_norm=qk_norms(),
    )
    if not can_fuse:
        return separate
    one = st.booleans()
    inner = st.builds(lambda qkv, o: {"q": qkv, "k": qkv, "v": qkv, "o": o}, one, one)
    fused_bias = st.fixed_dictionaries({"projection": st.just("fused"), "bias": one | inner})
    return st.one_of(separate, st.builds(lambda a, b: {**a, **b}, separate, fused_bias))


def attention_biases() -> Draws:
    """One flag for all projections, or one each."""
    return st.one_of(_FLAG, some({}, q=_FLAG, k=_FLAG, v=_FLAG, o=_FLAG))


def _scales() -> Draws:
    width = st.sampled_from([3, 16, "head_dim", "d_model // n_heads"])
    words = st.sampled_from(["inv_sqrt_head_dim", "one", 1, 0.5, 0.1])
    return st.one_of(words, some({"inv_sqrt": width}))


def qk_norms() -> Draws:
    """All forms of query-key norms, and none."""
    over = st.sampled_from(["head", "full"])
    temperature = st.sampled_from(["none", "per_head"])
    return st.one_of(
        st.sampled_from(["rms", "l2", None, "layer"]),
        some({"over": over}, eps=_EPS, weight=_WEIGHT),
        some({"kind": st.just("rms")}, over=over, **_rms_norm()),
        some({"kind": st.just("layer")}, over=over, **_layer_norm()),
        some({"kind": st.just("l2")}, eps=_EPS, temperature=temperature),
    )


def attentions(fit: Sizes, can_fuse: bool) -> SearchStrategy[Tree]:
    """A whole attention node."""
    spellings: list[Value] = [fit.n_heads]
    if not fit.own_head_dim:
        spellings.append(f"d_model // {fit.head_dim}")
    required: dict[str, Draws] = {"n_heads": st.sampled_from(spellings)}
    if fit.own_head_dim:
        required["head_dim"] = st.just(fit.head_dim)
    base = st.fixed_dictionaries(required)
    return st.builds(lambda a, b: {**a, **b}, base, attention_options(fit, can_fuse))


def feed_forwards() -> SearchStrategy[Tree]:
    """A whole feed-forward node."""
    required: dict[str, Draws] = {"d_ff": d_ff(), "activation": activations()}
    plain = some(required, kind=st.just("mlp"), bias=feed_forward_biases())
    gated = some({**required, "kind": st.just("glu")}, bias=feed_forward_biases())
    kept = some({"kind": st.just("glu"), "d_ff": d_ff(), "activation": st.just("silu")})
    clamped = st.builds(lambda node, clamp: {**node, "clamp": clamp}, kept, clamps())
    return st.one_of(plain, gated, clamped, mixtures())


def feed_forward_biases() -> Draws:
    """One flag for all maps, or one each."""
    return st.one_of(_FLAG, some({}, up=_FLAG, down=_FLAG))


def d_ff() -> Draws:
    """A width, or arithmetic that gives one."""
    return st.sampled_from([3, 8, 5, "2 * d_model", "d_model * 2 + 1", "(d_model + 1) // 2"])


def activations() -> Draws:
    """The activations that a feed-forward may have."""
    return st.sampled_from(["relu", "relu_squared", "gelu_erf", "gelu_tanh", "silu"])
