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

_EPS = st.sampled_from([1e-6, 1e-5, 1e-12, 1e-3, 0.1])
_WEIGHT = st.sampled_from(["w", "one_plus_w", "none"])
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


def attention_options(fit: Sizes, can_fuse: bool) -> SearchStrategy[Tree]:
    """What attention may have beside its number of heads."""
    divisors = [n for n in range(1, fit.n_heads + 1) if fit.n_heads % n == 0]
    separate = some(
        {},
        n_kv_heads=st.sampled_from([*divisors, "n_heads"]),
        bias=attention_biases(),
        scale=_scales(),
        qk_norm=qk_norms(),
        **scores(),
    ).map(_unclipped)
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


def _unclipped(node: Tree) -> Tree:
    """No norm of clipped features: where all are clipped, it divides by almost nothing."""
    return {k: v for k, v in node.items() if k != "clip_qkv" or not node.get("qk_norm")}


def scores() -> dict[str, Draws]:
    """What all attention may have of the published variants."""
    return {
        "clip_qkv": st.sampled_from([0.5, 8]),
        "softcap": st.sampled_from([1.0, 50]),
        "sinks": _FLAG,
        "gate": st.sampled_from(["sigmoid", "none"]),
        "scale_by_layer": _FLAG,
    }


def reaches(is_causal: bool) -> Draws:
    """What self-attention over tokens may look at, and how its queries grow."""
    size = st.sampled_from([1, 3, 4, 20])
    near: list[Draws] = [st.just({}), size.map(lambda n: {"window": n})]
    if not is_causal:
        return st.one_of(near)
    near.append(size.map(lambda n: {"chunk": n}))
    given = some({}, floor=st.sampled_from([2, 3.5]), coefficient=st.sampled_from([0.1, 1]))
    warm = some({}, temperature=given)
    return st.builds(lambda a, b: {**a, **b}, st.one_of(near), warm)


def qk_norms() -> Draws:
    """All forms of query-key norms, and none."""
    over = st.sampled_from(["head", "full", "per_head"])
    apart = st.sampled_from(["head", "per_head"])
    late = st.just("after_rotary")
    temperature = st.sampled_from(["none", "per_head"])
    return st.one_of(
        st.sampled_from(["rms", "l2", None, "layer"]),
        some({"over": over}, eps=_EPS, weight=_WEIGHT),
        some({"kind": st.just("rms")}, over=over, **_rms_norm()),
        some({"kind": st.just("layer")}, over=over, **_layer_norm()),
        some({"when": late}, over=apart, eps=_EPS, weight=_WEIGHT),
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


def latents() -> SearchStrategy[Tree]:
    """A whole node of latent attention."""
    flag = some({}, a=_FLAG, o=_FLAG)
    required: dict[str, Draws] = {
        "kind": st.just("latent"),
        "n_heads": st.sampled_from([2, 1, 3]),
        "nope_head_dim": st.sampled_from([4, 1, 3]),
        "rope_head_dim": st.sampled_from([4, 2, 6]),
        "value_head_dim": st.sampled_from([5, 2, 4]),
        "kv_rank": st.sampled_from([6, 5]),
    }
    return some(
        required,
        q_rank=st.sampled_from([7, 5]),
        norm_eps=_EPS,
        scale_multiplier=st.sampled_from([1.5, 0.5]),
        bias=flag,
        window=st.sampled_from([3, 20]),
    )


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
