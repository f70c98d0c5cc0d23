"""Strategies for what differs between layers: layer types with their pattern, and overrides."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from specc.verify.random_specs.parts import (
    Sizes,
    activations,
    attention_options,
    d_ff,
    feed_forward_biases,
    feed_forwards,
    norms,
    reaches,
)
from specc.verify.random_specs.places import TABLE_KINDS, positions, turning
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
    pattern = [*names, *more]
    if draw(st.booleans()):
        pattern = draw(_counted(pattern))
    found: Tree = {"pattern": pattern, "types": types}
    if len(names) < n_layers and draw(st.booleans()):  # the last layer is none's only one
        at = n_layers - 1
        found["override"] = [{"at": at, "type": draw(st.sampled_from(names))}]
    return found


def _counted(pattern: list[str]) -> SearchStrategy[list[Any]]:
    """The same pattern with its first name as a count of one, all of it or nothing more."""
    return st.sampled_from([[{name: 1} for name in pattern], [{pattern[0]: 1}, *pattern[1:]]])


def _positions(body: Tree, fit: Sizes) -> SearchStrategy[Tree]:
    """A layer type's own position, where the stack has no table at its input."""
    kind = body["position"]["kind"]
    if kind in TABLE_KINDS:
        return st.just({})
    is_latent = body["attention"].get("kind") == "latent"
    kinds = [] if is_latent else ["none"]
    if body["kind"] in ("decoder", "encoder") and not is_latent:
        kinds.append("alibi")
    turns = turning(body, fit)
    if turns.head_dim % 2 == 0 and "max_seq_len" in body:
        kinds.append("rope")
    own = positions(fit, *kinds, turns=turns, index=body["position"].get("index", "mask"))
    return st.fixed_dictionaries({}, optional={"position": own})


def layer_overrides(body: Tree, fit: Sizes, cross: bool) -> SearchStrategy[Tree]:
    """What a stack or a layer type may change of the base parts, its position apart."""
    is_fused = body["attention"].get("projection") == "fused"
    optional: dict[str, SearchStrategy[Any]] = {
        "norm": norms(),
        "block": _blocks(body),
        "feed_forward": _feed_forwards(),
    }
    is_latent = body["attention"].get("kind") == "latent"
    if not is_fused and not is_latent:
        optional["attention"] = _attentions(body, fit)
    if cross:
        options = attention_options(fit, can_fuse=False)
        optional["cross_attention"] = options.map(lambda node: {**node, "projection": "separate"})
    return cast(SearchStrategy[Tree], st.fixed_dictionaries({}, optional=optional))


def _attentions(body: Tree, fit: Sizes) -> SearchStrategy[Tree]:
    """Options with a reach of their own, where the base has none."""
    options = attention_options(fit, can_fuse=False)
    if {"window", "chunk", "temperature"} & set(body["attention"]):
        return options
    near = reaches(body["kind"] == "decoder" and body["position"]["kind"] != "alibi")
    cool = near.map(lambda node: {k: v for k, v in node.items() if k != "temperature"})
    return st.builds(lambda a, b: {**a, **b}, options, cool)


def _blocks(body: Tree) -> SearchStrategy[Tree]:
    words = ["pre", "sandwich", "post_sublayer", "post"]
    if body["block"].get("wiring") == "parallel":
        words = words[: 2 if body["block"].get("shared_norm") else 3]
    if body["block"].get("residual") == "normed":
        words = words[:2]
    required = {"norm_placement": st.sampled_from(words)}
    if body["block"].get("shared_norm") or body["block"].get("residual") == "normed":
        return st.fixed_dictionaries(required)
    skipped = st.sampled_from([["feed_forward"], []])
    return st.fixed_dictionaries(required, optional={"skip_norms": skipped})


def _feed_forwards() -> SearchStrategy[Tree]:
    part = st.fixed_dictionaries(
        {}, optional={"d_ff": d_ff(), "activation": activations(), "bias": feed_forward_biases()}
    )
    return st.one_of(part, feed_forwards())
