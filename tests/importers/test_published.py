"""Each published config gives the model of the spec that was written by hand: the same count, the
same code, the same layout.
"""

import json
import re

import pytest

from specc.importers import import_config
from specc.ir.parameters import parameter_count
from specc.pipeline import read_model
from specc.spec import load
from tests.importers.compare import CONFIGS, NAMES, ROOT, difference, imported, model
from tests.unit.lower.test_zoo import COUNTS

# How weights start and what training drops: these specs follow their papers, which say other
# numbers than the config that was published with the weights. And what a file can do beyond its
# model, which no config says. Nothing else may differ.
ON_A_CPU = {"\nvocab_size:": "\nfeatures: [cache, generate, cpu_decode]\nvocab_size:"}
OF_THE_SPEC = {
    "gpt2": ON_A_CPU,
    "llama_3_2_1b": ON_A_CPU,
    "deepseek_v2_lite": {"std: 0.02": "std: 0.006"},
    "deepseek_v3": {"std: 0.02": "std: 0.006"},
    "opt_350m": {
        "std: 0.02, outputs: same": "std: 0.006, outputs: depth_scaled",
        "dropout: {attention: 0.0": "dropout: {attention: 0.1",
    },
}


def test_every_spec_with_weights_has_a_config():
    assert set(NAMES) == set(COUNTS)


@pytest.mark.parametrize("name", NAMES)
def test_the_count_is_the_published_one(name):
    assert parameter_count(model(name)) == COUNTS[name]


@pytest.mark.parametrize("name", NAMES)
def test_the_code_is_that_of_the_spec(name):
    assert difference(name, OF_THE_SPEC.get(name, {})) == ""


@pytest.mark.parametrize("name", OF_THE_SPEC)
def test_only_those_fields_differ(name):
    assert difference(name, {}) != ""


@pytest.mark.parametrize("name", NAMES)
def test_the_layout_and_the_place_are_those_of_the_spec(name):
    committed = (ROOT / "specs" / f"{name}.yaml").read_text(encoding="utf-8")
    wanted = re.search(r"^source: (.*)$", committed, re.MULTILINE)
    found = re.search(r"^source: (.*?)  #", imported(name), re.MULTILINE)
    assert found[1].replace('"', "") == wanted[1]


@pytest.mark.parametrize("name", NAMES)
def test_the_ledger_leaves_nothing_out(name):
    assert load(imported(name).encode(), name).strict() == ()


@pytest.mark.parametrize("name", NAMES)
def test_no_key_is_lost(name):
    text = imported(name)
    for key in json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8")):
        assert re.search(rf"\b{key}\b", text), key


def test_an_encoder_without_a_head():
    config = {
        "model_type": "bert",
        "architectures": ["BertModel"],
        "vocab_size": 30522,
        "hidden_size": 384,
        "num_hidden_layers": 6,
        "num_attention_heads": 12,
        "intermediate_size": 1536,
        "hidden_act": "gelu",
        "max_position_embeddings": 512,
        "type_vocab_size": 2,
        "layer_norm_eps": 1e-12,
        "position_embedding_type": "absolute",
        "gradient_checkpointing": False,
    }
    found = import_config(json.dumps(config).encode(), "config.json", folder="all-MiniLM-L6-v2")
    assert found.name == "all_minilm_l6_v2"
    pooler = 384 * 384 + 384  # published with the weights; the features are what it reads
    assert parameter_count(read_model(text=found.text)) == 22_713_216 - pooler
