"""Strategies for whole specs of every kind, as a person writes them. Mostly valid by construction;
one in eight gets a mistake, which must be refused cleanly or turn out to be none.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from specc.verify.random_specs.layers import layer_overrides, layer_patterns
from specc.verify.random_specs.mistakes import mistaken
from specc.verify.random_specs.outsides import (
    drawn_heads,
    dropouts,
    embeddings,
    inits,
    papers,
    pools,
)
from specc.verify.random_specs.parts import (
    Sizes,
    attentions,
    derived_norms,
    feed_forwards,
    latents,
    norms,
    reaches,
    sizes,
)
from specc.verify.random_specs.places import TABLE_KINDS, positions, turning
from specc.verify.random_specs.said import in_style
from specc.verify.random_specs.yaml_text import Tree

KINDS = ("decoder", "encoder", "encoder_decoder", "features")
LONGEST = 13  # max_seq_len is at least this: inputs are 9 and 11 long, a cache holds 12


@st.composite
def specs(draw: DrawFn) -> Tree:
    """One spec as a mapping."""
    kind = draw(st.sampled_from(KINDS))
    body = draw(_features() if kind == "features" else _models(kind))
    body = draw(in_style(body))
    head = {"specc": 1, "name": draw(st.sampled_from(["m", "my_model_2"]))}
    tree = {**head, **draw(papers(body)), **body}
    return draw(mistaken(tree)) if draw(_one_in(8)) else tree


def _one_in(number: int) -> SearchStrategy[bool]:
    return st.sampled_from([False] * (number - 1) + [True])


@st.composite
def _models(draw: DrawFn, kind: str) -> Tree:
    """A model that reads tokens."""
    position_kinds = ["none", "rope", "sinusoidal", "learned", "rope", "rope", "alibi"]
    if kind == "encoder_decoder":
        position_kinds.remove("alibi")
    position_kind = draw(st.sampled_from(position_kinds))
    fit = draw(sizes(even=position_kind == "rope"))
    body: Tree = {"kind": kind, "vocab_size": draw(st.sampled_from([2, 7, 11])), **_widths(fit)}
    body["n_layers"] = draw(st.integers(1, 3))
    body.update(draw(_lengths(position_kind)))
    body["attention"] = draw(_self_attention(kind, position_kind, fit))
    body["position"] = draw(positions(fit, position_kind, turns=turning(body, fit)))
    body["block"] = draw(blocks(2))
    body["feed_forward"] = draw(feed_forwards())
    if kind == "encoder_decoder" and body["attention"].get("projection") == "fused":
        body["cross_attention"] = {"projection": "separate"}
    body.update(draw(_shared(kind)))
    _settle(body)
    if kind == "encoder_decoder":
        body.update(draw(_stacks(body, fit)))
    else:
        body.update(draw(_one_stack(kind, body, fit)))
    return body


@st.composite
def _self_attention(draw: DrawFn, kind: str, position_kind: str, fit: Sizes) -> Tree:
    """Attention over tokens, one in three of the turning decoders' latent."""
    if kind == "decoder" and position_kind == "rope" and draw(_one_in(3)):
        return draw(latents())
    options = draw(attentions(fit, can_fuse=True))
    return {**options, **draw(reaches(kind == "decoder" and position_kind != "alibi"))}


def _settle(body: Tree) -> None:
    """What one part asks of another: latents give no weights, ids a padding id, and so on."""
    if body["attention"].get("kind") == "latent":
        body.pop("outputs", None)
    if body["position"].get("index") == "ids":
        body["embedding"] = {**body.get("embedding", {}), "pad_id": 1}
    if "temperature" in body["attention"] and "index" in body["position"]:
        body["position"]["index"] = "mask"
    embedding = body.get("embedding", {})
    heads = body.get("head")
    heads = heads if isinstance(heads, list) else [heads]
    masked = [h for h in heads if isinstance(h, dict) and h.get("kind", "").startswith("masked")]
    if embedding.get("width") == body["d_model"] or masked:
        for key in ("width", "project", *(["padded_vocab_size"] if masked else [])):
            embedding.pop(key, None)


def _widths(fit: Sizes) -> Tree:
    return {"d_model": fit.d_model}


def _lengths(position_kind: str) -> SearchStrategy[Tree]:
    length: SearchStrategy[Any] = st.sampled_from([LONGEST, 17, 20])
    if position_kind in ("alibi", "none"):
        return st.fixed_dictionaries({}, optional={"max_seq_len": length})
    return st.fixed_dictionaries({"max_seq_len": length})


@st.composite
def blocks(draw: DrawFn, n_sublayers: int) -> Tree:
    """Placement and wiring that go together."""
    added: dict[str, SearchStrategy[Any]] = {
        "residual_multiplier": st.sampled_from([0.5, 2.0]),
        "layer_scale": st.sampled_from([0.1, 1]),
    }
    block = draw(st.fixed_dictionaries({}, optional=added))
    if n_sublayers == 1 or not draw(st.booleans()):
        words = ["pre", "post", "sandwich", "post_sublayer"]
        block["norm_placement"] = draw(st.sampled_from(words))
        if block["norm_placement"] in ("pre", "sandwich") and draw(_one_in(4)):
            block["residual"] = "normed"
        elif draw(_one_in(6)):
            block["skip_norms"] = ["feed_forward"]
        return block
    words = ["pre", "sandwich", "post_sublayer"]
    block.update({"norm_placement": draw(st.sampled_from(words)), "wiring": "parallel"})
    if block["norm_placement"] != "post_sublayer" and draw(st.booleans()):
        block["shared_norm"] = True
    return block


@st.composite
def _shared(draw: DrawFn, kind: str) -> Tree:
    """What stands outside layers and stacks."""
    final = st.one_of(st.booleans(), derived_norms())
    optional: dict[str, SearchStrategy[Any]] = {
        "norm": norms(),
        "final_norm": final,
        "dropout": dropouts(),
        "init": inits(),
        "head": drawn_heads(kind),
    }
    if kind != "features":
        optional["embedding"] = embeddings(kind)
    if kind in ("decoder", "encoder_decoder"):
        optional["features"] = st.sampled_from([["cache"], ["cache", "cpu_decode"], []])
    if kind in ("decoder", "encoder"):
        optional["outputs"] = st.just(["attention_weights"])
    found = draw(st.fixed_dictionaries({}, optional=optional))
    if kind in ("decoder", "encoder_decoder") and pools(found.get("head")):
        found["features"] = []
    return found


@st.composite
def _one_stack(draw: DrawFn, kind: str, body: Tree, fit: Sizes) -> Tree:
    if draw(_one_in(6)):
        kept = ["attention", "feed_forward"]
        if body["position"]["kind"] not in ("rope", "alibi") and "outputs" not in body:
            kept = draw(st.sampled_from([kept[::-1], kept[:1], kept[1:]]))
        else:
            kept = kept[::-1]
        return _with_sublayers(body, kept, kind)
    if draw(_one_in(3)):
        return {"layers": draw(layer_patterns(body, fit))}
    return {}


def _with_sublayers(body: Tree, kept: list[str], kind: str) -> Tree:
    """The block's own list; one sublayer is no parallel wiring, none of attention no cache."""
    block = {**body["block"], "sublayers": kept}
    if len(kept) == 1:
        block = {"norm_placement": block["norm_placement"], "sublayers": kept}
    changed: Tree = {"block": block}
    if "attention" not in kept and kind == "decoder":
        changed["features"] = []
    return changed


@st.composite
def _stacks(draw: DrawFn, body: Tree, fit: Sizes) -> Tree:
    """Overrides of the encoder and the decoder."""
    found: Tree = {}
    for name in ("encoder", "decoder"):
        if not draw(st.booleans()):
            continue
        stack = draw(layer_overrides(body, fit, cross=name == "decoder"))
        if draw(st.booleans()):
            stack["n_layers"] = draw(st.integers(1, 3))
        if draw(st.booleans()):
            stack["final_norm"] = draw(st.one_of(st.booleans(), derived_norms()))
        if draw(_one_in(3)):
            merged = {**body, "n_layers": stack.get("n_layers", body["n_layers"])}
            stack["layers"] = draw(layer_patterns(merged, fit))
        if stack:
            found[name] = stack
    if draw(_one_in(4)):
        own = draw(positions(fit, *TABLE_KINDS, "none"))
        found.setdefault("encoder", {})["position"] = own
        found["max_seq_len"] = LONGEST
    return found


@st.composite
def _features(draw: DrawFn) -> Tree:
    """A model that looks at a set of features."""
    fit = draw(sizes(even=False))
    body: Tree = {"kind": "features", **_widths(fit), "n_layers": draw(st.integers(1, 3))}
    has_self = draw(_one_in(3))
    body["block"] = draw(blocks(2))
    if has_self:
        order = ["attention", "cross_attention", "feed_forward"]
        body["block"]["sublayers"] = draw(st.permutations(order))
        body["attention"] = draw(attentions(fit, can_fuse=False))
        if draw(st.booleans()):
            body["position"] = {"kind": "none"}
    else:
        body["cross_attention"] = draw(attentions(fit, can_fuse=False))
    body["feed_forward"] = draw(feed_forwards())
    body.update(draw(_shared("features")))
    return body
