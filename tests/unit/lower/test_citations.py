"""Ledger entries as one line of words, beside the number of `Config` that they speak of."""

from __future__ import annotations

import pytest

from specc.lower.citations import citation_text
from specc.spec.schema import LedgerEntry
from tests.unit.lower.build import decoder, encoder_decoder, layer, lowered, stack, two_types

TEXTS = [
    ({"status": "stated", "at": "§3.1", "quote": "N = 6"}, '§3.1: "N = 6"'),
    ({"status": "stated", "at": "§3.1"}, "§3.1"),
    ({"status": "stated"}, "stated"),
    (
        {"status": "stated", "at": "§3", "quote": "a gelu", "because": "the erf form"},
        '§3: "a gelu"; the erf form',
    ),
    ({"status": "figure", "at": "Figure 1"}, "Figure 1"),
    ({"status": "figure", "because": "drawn so"}, "a figure: drawn so"),
    (
        {"status": "official_code", "at": "src/model.py", "because": "wpe is trained"},
        "src/model.py: wpe is trained",
    ),
    (
        {"status": "official_code", "at": "a.py", "quote": "eps=1e-5"},
        'a.py: "eps=1e-5"',
    ),
    ({"status": "official_code"}, "official code"),
    ({"status": "unstated"}, "not stated"),
    ({"status": "unstated", "because": "a guess"}, "not stated: a guess"),
    (
        {
            "status": "unstated",
            "choice": 1e-6,
            "because": "as in the authors' code",
            "alternatives": (1e-5,),
        },
        "not stated; 1e-6: as in the authors' code (else 1e-5)",
    ),
    (
        {"status": "unstated", "choice": False, "alternatives": (True, "some")},
        "not stated; false (else true, some)",
    ),
    ({"status": "unstated", "choice": 512}, "not stated; 512"),
    ({"status": "unstated", "choice": 0.25}, "not stated; 0.25"),
    ({"status": "unstated", "choice": 1.5e-07}, "not stated; 1.5e-7"),
    ({"status": "deviates", "because": "it reads better"}, "deviates: it reads better"),
    (
        {"status": "deviates", "at": "§2", "because": "it reads better"},
        "unlike §2: it reads better",
    ),
]


@pytest.mark.parametrize(("entry", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_text(entry, text):
    assert citation_text(LedgerEntry.model_validate(entry)) == text


def test_a_choice_is_not_repeated_beside_its_value():
    entry = {"status": "unstated", "choice": 1e-6, "because": "a guess", "alternatives": (1e-5,)}
    text = citation_text(LedgerEntry.model_validate(entry), value_shown=True)
    assert text == "not stated: a guess (else 1e-5)"


def names(*paths: str, **changes) -> dict[str, str | None]:
    ledger = {path: {"status": "stated"} for path in paths}
    return {c.path: c.config_name for c in lowered(**changes, ledger=ledger).citations}


def test_config_names():
    heads = {"n_heads": 4, "n_kv_heads": 2, "qk_norm": {"kind": "l2"}, "scale": 0.5}
    assert names(
        "d_model",
        "n_layers",
        "vocab_size",
        "attention.n_kv_heads",
        "attention.head_dim",
        "attention.scale",
        "attention.qk_norm.eps",
        "norm.eps",
        "dropout",
        "dropout.embedding",
        "init.std",
        "feed_forward.d_ff",
        "feed_forward.activation",
        "block.norm_placement",
        "embedding.scale",
        **decoder(attention=heads),
        dropout={"embedding": 0.1},
        embedding={"scale": 2.5},
    ) == {
        "d_model": "d_model",
        "n_layers": "n_layers",
        "vocab_size": "vocab_size",
        "attention.n_kv_heads": "n_kv_heads",
        "attention.head_dim": "head_dim",
        "attention.scale": "attention_scale",
        "attention.qk_norm.eps": "qk_norm_eps",
        "norm.eps": "norm_eps",
        "dropout": "dropout",
        "dropout.embedding": "dropout",
        "init.std": "init_std",
        "feed_forward.d_ff": "d_ff",
        "feed_forward.activation": None,
        "block.norm_placement": None,
        "embedding.scale": "embedding_scale",
    }


def test_config_names_of_layer_types():
    local, other = ({"position": {"kind": "rope", "theta": theta}} for theta in (1e4, 1e6))
    paths = ("position.theta", "layers.types.local.position.theta", "layers.types.global.norm.eps")
    assert names(*paths, **two_types(local, other)) == {
        "position.theta": None,  # two numbers
        "layers.types.local.position.theta": "rope_theta_local",
        "layers.types.global.norm.eps": "norm_eps",
    }


def test_config_names_of_stacks():
    crossed = layer(("attention", "cross_attention", "feed_forward"))
    changes = encoder_decoder(decoder=stack(types={"layer": crossed}, n_layers=5))
    paths = ("n_layers", "encoder.n_layers", "decoder.attention.n_heads")
    assert names(*paths, **changes) == {
        "n_layers": None,
        "encoder.n_layers": "n_encoder_layers",
        "decoder.attention.n_heads": "n_heads",
    }


def test_config_names_of_heads():
    heads = (
        {"kind": "features"},
        {"kind": "classifier", "name": "a", "pool": "mean", "n_classes": 2},
    )
    assert names("head[1].n_classes", "head.n_classes", heads=heads) == {
        "head[1].n_classes": "n_classes",
        "head.n_classes": "n_classes",
    }
