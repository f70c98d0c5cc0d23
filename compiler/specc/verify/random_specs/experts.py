"""Strategies for mixtures of experts and clamps. What is drawn goes together: enough experts in the
kept groups to choose from, weights that a router can learn.
"""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from specc.verify.random_specs.yaml_text import Tree, Value

ACTIVATIONS = ("silu", "relu", "relu_squared", "gelu_erf", "gelu_tanh")


def clamps() -> SearchStrategy[Tree]:
    """A clamp with any of its numbers."""
    return st.fixed_dictionaries(
        {},
        optional={
            "alpha": st.sampled_from([1.702, 1, 0.5]),
            "limit": st.sampled_from([7.0, 1, 0.5]),
            "up_offset": st.sampled_from([1, 0, 0.25]),
        },
    )


@st.composite
def mixtures(draw: DrawFn) -> Tree:
    """A whole feed-forward node of kind experts."""
    node: Tree = {"kind": "experts", **draw(_choices())}
    node["d_ff"] = draw(st.sampled_from([3, 5, "d_model + 1"]))
    node["activation"] = "silu"
    if draw(st.booleans()):
        node["clamp"] = draw(clamps())
    else:
        node["activation"] = draw(st.sampled_from(ACTIVATIONS))
    node.update(draw(_options()))
    node.update(draw(_weights(node)))
    return node


@st.composite
def _choices(draw: DrawFn) -> Tree:
    """How many experts there are, in which groups, and how many of them are chosen."""
    score = draw(st.sampled_from(["softmax", "topk_softmax", "sigmoid"]))
    n_groups, each = draw(st.sampled_from([(1, 2), (1, 4), (1, 5), (2, 2), (3, 2), (3, 3)]))
    node: Tree = {"n_experts": n_groups * each, "score": score}
    most = n_groups * each
    if n_groups > 1:
        n_kept = draw(st.integers(1, n_groups - 1))
        fills = ["minus_infinity"] if score == "topk_softmax" else ["zero", "minus_infinity"]
        node["groups"] = {
            "n_groups": n_groups,
            "n_kept": n_kept,
            "score": draw(st.sampled_from(["max", "top2_sum"])),
            "fill": draw(st.sampled_from(fills)),
        }
        most = n_kept * each
    least = 2 if score == "topk_softmax" else 1
    node["top_k"] = draw(st.integers(least, most))
    return node


def _options() -> SearchStrategy[Tree]:
    """What goes with every router."""
    flag = st.booleans()
    shared = st.fixed_dictionaries(
        {"d_ff": st.sampled_from([3, "2 * d_ff", 7])},
        optional={"gate": st.sampled_from(["none", "sigmoid"])},
    )
    return st.fixed_dictionaries(
        {},
        optional={
            "bias": st.one_of(flag, st.just({"up": True, "down": True})),
            "router_bias": flag,
            "scale": st.sampled_from([2.5, 16, 0.5]),
            "apply": st.sampled_from(["output", "input"]),
            "shared": shared,
        },
    )


@st.composite
def _weights(draw: DrawFn, node: Tree) -> Tree:
    """Selection bias and renormalisation, where they go with the score."""
    found: dict[str, Value] = {}
    is_filled = isinstance(node.get("groups"), dict) and node["groups"]["fill"] == "zero"
    if not is_filled and draw(st.booleans()):  # zeros among negative scores are ties
        found["selection_bias"] = True
    if node["score"] != "topk_softmax" and node["top_k"] > 1 and draw(st.booleans()):
        found["renormalise"] = True
        if draw(st.booleans()):
            found["renorm_eps"] = draw(st.sampled_from([1e-20, 1e-3]))
    return found
