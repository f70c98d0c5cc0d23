"""Strategies for what stands outside the layers: embedding, heads, dropout, init, and the words
about the paper that reach the file as comments.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from specc.verify.random_specs.parts import Draws, derived_norms, some
from specc.verify.random_specs.yaml_text import Tree, Value

_FLAG = st.booleans()
_LONG = "We apply " + "a very long sentence, one that no line of eighty-eight columns holds, " * 2
_TEXTS = st.sampled_from(["short", '§3.1, "quoted" and \\back', "日本語 {braces} # hash", _LONG])


def embeddings(kind: str) -> SearchStrategy[Tree]:
    """The embedding: its scale and norm, and what the kind allows."""
    optional: dict[str, Draws] = {
        "scale": st.sampled_from(["one", "sqrt_d_model", 1, 0.5]),
        "norm": derived_norms(),
    }
    places = st.sampled_from(["before_position", "before_norm", "after_norm"])
    optional["padded_vocab_size"] = st.sampled_from([12, 16])
    if kind == "encoder":
        optional["types"] = st.sampled_from([2, 3])
    if kind == "encoder_decoder":
        optional["shared"] = _FLAG
    narrow: dict[str, Draws] = {
        "width": st.sampled_from([6, 4, 9]),
        "project": some({"at": places}, bias=_FLAG),
    }
    return st.one_of(some({}, **optional), some(narrow, **optional))


def drawn_heads(kind: str) -> Draws:
    """One head or a list; each output has its own name."""
    classifier = _classifiers()
    features: Draws = st.sampled_from(["features", {"kind": "features"}])
    if kind == "features":
        several = st.lists(_classifiers("one"), min_size=1, max_size=1)
        return st.one_of(features, classifier, several, _lists(features))
    tokens = st.one_of(_language_models(), _masked_language_models())
    return st.one_of(features, tokens, classifier, _lists(tokens), _lists(features))


def pools(head: Value) -> bool:
    """Whether one of the heads is a classifier."""
    heads = head if isinstance(head, list) else [head]
    return any(isinstance(each, dict) and "pool" in each for each in heads)


def _lists(first: Draws) -> Draws:
    rest = st.sampled_from([["one_logits"], ["one_logits", "two_logits"], []])

    def add(names: list[str]) -> SearchStrategy[list[Value]]:
        return st.tuples(first, *(_classifiers(name) for name in names)).map(list)

    return rest.flatmap(add)


def _language_models() -> Draws:
    numbers: dict[str, Draws] = {
        "in_multiplier": st.sampled_from([0.5, 3]),
        "out_multiplier": st.sampled_from([0.25, 2]),
        "softcap": st.sampled_from([1.0, 30]),
    }
    return st.one_of(
        st.just("language_model"),
        some({}, tied=_FLAG, bias=_FLAG).filter(bool),
        some({"kind": st.just("language_model")}, tied=_FLAG, bias=_FLAG, **numbers),
    )


def _masked_language_models() -> Draws:
    activation = st.sampled_from(["relu", "gelu_erf", "gelu_tanh", "silu", "tanh"])
    required: dict[str, Draws] = {
        "kind": st.just("masked_language_model"),
        "activation": activation,
    }
    return some(required, tied=_FLAG, bias=_FLAG, norm=derived_norms())


def _classifiers(name: str | None = None) -> Draws:
    required: dict[str, Draws] = {
        "kind": st.just("classifier"),
        "pool": st.sampled_from(["first", "mean"]),
        "n_classes": st.sampled_from([1, 3]),
    }
    if name is not None:
        required["name"] = st.just(name)
    return some(required, pooler=st.sampled_from(["none", "tanh"]), bias=_FLAG)


def dropouts() -> Draws:
    """One number for all sites, or some sites."""
    p: Draws = st.sampled_from([0.1, 0, "10%", 0.25])
    sites: dict[str, Draws] = dict.fromkeys(
        ("embedding", "attention", "attention_out", "ff_hidden", "ff_out"), p
    )
    return st.one_of(p, some({}, **sites))


def inits() -> Draws:
    """A word or a mapping."""
    std = st.sampled_from([0.02, 1, 0.5])
    return st.one_of(
        st.sampled_from(["xavier_uniform", "torch", "normal"]),
        some({}, std=std, outputs=st.sampled_from(["depth_scaled", "same", "zero"])),
        some(
            {"kind": st.sampled_from(["xavier_uniform", "torch"])},
            std=std,
            outputs=st.sampled_from(["same", "zero"]),
        ),
    )


@st.composite
def papers(draw: DrawFn, body: Tree) -> Tree:
    """Title, class, paper and ledger: free text that reaches the file as comments only."""
    if not draw(st.booleans()):
        return {}
    entry = some({"status": st.just("stated")}, at=_TEXTS, quote=_TEXTS, because=_TEXTS)
    paths = st.sampled_from(_paths(body))
    optional: dict[str, SearchStrategy[Any]] = {
        "title": _TEXTS,
        "class": st.sampled_from(["Mine", "MyModel2"]),
        "paper": some({"title": _TEXTS}, authors=_TEXTS, arxiv=st.just("1706.03762")),
        "ledger": st.dictionaries(paths, entry, min_size=1, max_size=4),
    }
    return draw(st.fixed_dictionaries({}, optional=optional))


def _paths(body: Tree) -> list[str]:
    """Places of the spec that a ledger may speak of."""
    spoken = ("d_model", "vocab_size", "n_layers", "kind", "block", "norm", "attention")
    inner = [
        f"{part}.{key}" for part in ("attention", "feed_forward") for key in body.get(part, {})
    ]
    return [key for key in (*spoken, "feed_forward") if key in body] + inner
