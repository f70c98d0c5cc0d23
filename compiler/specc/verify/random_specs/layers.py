"""Strategies for what differs between layers: layer types with their pattern, and overrides."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from specc.verify.random_specs.parts import (
    TABLE_KINDS,
    Sizes,
    activations,
    attention_options,
    d_ff,
    feed_forward_biases,
    feed_forwards,
    norms,
    positions,
)
from specc.verify.random_specs.yaml_text import Tree

NAMES = ("a", "local", "global", "layer_2", "sliding_window")


@st.composite
def layer_patterns(draw: DrawFn, body: Tree, fit: Sizes) -> Tree:
    """`layers:` with one to three types, all of them reached."""
    n_layers = body["n_layers"]
    n_types = draw(st.integers(1, min(3, n_layers)))
    names = list(draw(st.permutations(NAMES)))[:n_types]
    more = draw(st.lists(st.sampled_from(names), max_size=2))
    types: Tree = {}
    for name in names:
        override = draw(layer_overrides(body, fit, cross=False))
        override.update(draw(_positions(body, fit)))
        types[name] = override or draw(st.sampled_from([None, {}]))
    return {"pattern": [*names, *more], "types": types}


def _positions(body: Tree, fit: Sizes) -> SearchStrategy[Tree]:
    """A layer type's own position, where the stack has no table at its input."""
    kind = body["position"]["kind"]
    if kind in TABLE_KINDS:
        return st.just({})
    kinds = ["none"]
    if body["kind"] in ("decoder", "encoder"):
        kinds.append("alibi")
    if fit.head_dim % 2 == 0 and "max_seq_len" in body:
        kinds.append("rope")
    own = positions(fit, *kinds)
    return st.fixed_dictionaries({}, optional={"position": own})


def layer_overrides(body: Tree, fit: Sizes, cross: bool) -> SearchStrategy[Tree]:
    """What a stack or a layer type may change of the base parts, its position apart."""
    is_fused = body["attention"].get("projection") == "fused"
    optional: dict[str, SearchStrategy[Any]] = {
        "norm": norms(),
        "block": _blocks(body),
        "feed_forward": _feed_forwards(),
    }
    if not is_fused:
        optional["attention"] = attention_options(fit, can_fuse=False)
    if cross:
        options = attention_options(fit, can_fuse=False)
        optional["cross_attention"] = options.map(lambda node: {**node, "projection": "separate"})
    return cast(SearchStrategy[Tree], st.fixed_dictionaries({}, optional=optional))


def _blocks(body: Tree) -> SearchStrategy[Tree]:
    words = ["pre", "sandwich", "post_sublayer", "post"]
    if body["block"].get("wiring") == "parallel":
        words = words[: 2 if body["block"].get("shared_norm") else 3]
    return st.fixed_dictionaries({"norm_placement": st.sampled_from(words)})


def _feed_forwards() -> SearchStrategy[Tree]:
    part = st.fixed_dictionaries(
        {}, optional={"d_ff": d_ff(), "activation": activations(), "bias": feed_forward_biases()}
    )
    return st.one_of(part, feed_forwards())
