"""The verb: what it writes, says and refuses."""

import json

import pytest
from safetensors.torch import load_file, save_file

from specc.convert import to_theirs
from specc.importers.layouts import LAYOUTS
from specc.pipeline import read_model
from specc.verify.weights import stress_weights
from tests.unit.cli.conftest import ROOT

BODY = """specc: 1
name: tiny
source: {layout: gpt2}
style: decoder, pre-norm, layer norm, learned positions, tied weights, GELU tanh, biases
vocab_size: 41
d_model: 24
n_layers: 2
max_seq_len: 9
attention: {n_heads: 4, projection: fused}
feed_forward: {d_ff: 40}
"""


@pytest.fixture
def checkpoint(folder):
    """A spec, and a published checkpoint of it."""
    (folder / "tiny.yaml").write_text(BODY, encoding="utf-8")
    model = read_model(folder / "tiny.yaml")
    weights = {name: w.float() for name, w in stress_weights(model).items()}
    tensors = to_theirs(model, LAYOUTS["gpt2"], weights).tensors
    save_file(tensors, folder / "model.safetensors")
    return weights


def test_there_and_back(specc, checkpoint, folder):
    done = specc("convert", "tiny.yaml", ".", "-o", "ours.safetensors")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("wrote ours.safetensors: 28 tensors became 28, 0.0 MB in")
    ours = load_file(folder / "ours.safetensors")
    assert all((ours[name] == tensor).all() for name, tensor in checkpoint.items())
    (folder / "back").mkdir()
    done = specc("convert", "tiny.yaml", "ours.safetensors", "-o", "back", "--to", "hf")
    assert done.code == 0
    back, theirs = load_file(folder / "back/model.safetensors"), load_file("model.safetensors")
    assert back.keys() == theirs.keys()
    assert all((back[name] == tensor).all() for name, tensor in theirs.items())


def test_weights_of_another_model(specc, checkpoint):
    other = ROOT / "specs" / "gpt2.yaml"
    done = specc("convert", other, "model.safetensors", "-o", "ours.safetensors")
    assert done.code == 2
    assert f"model.safetensors does not fit {other}:" in done.err
    assert "transformer.h.0.ln_2.weight: shape (24,), and the model needs (768,)" in done.err


def test_no_layout(specc, checkpoint, folder):
    (folder / "tiny.yaml").write_text(BODY.replace("source: {layout: gpt2}\n", ""))
    done = specc("convert", "tiny.yaml", ".", "-o", "ours.safetensors")
    assert done.code == 2
    assert "tiny.yaml does not say how its weights are stored: add source.layout" in done.err
    again = specc("convert", "tiny.yaml", ".", "-o", "ours.safetensors", "--layout", "gpt2")
    assert again.code == 0


def test_an_unknown_layout(specc, checkpoint):
    done = specc("convert", "tiny.yaml", ".", "-o", "ours.safetensors", "--layout", "gtp2")
    assert done.err == "error: no layout 'gtp2': did you mean gpt2?\n"


def test_a_pickle(specc, checkpoint, folder):
    (folder / "model.bin").write_bytes(b"\x80\x04K\x01.")
    done = specc("convert", "tiny.yaml", "model.bin", "-o", "ours.safetensors")
    assert done.code == 2
    assert "specc never reads one" in done.err


def test_a_folder_of_nothing(specc, checkpoint, folder):
    (folder / "none").mkdir()
    done = specc("convert", "tiny.yaml", "none", "-o", "ours.safetensors")
    assert done.err == (
        "error: none: no model.safetensors and no model.safetensors.index.json in it\n"
    )


def test_an_index_of_nothing(specc, checkpoint, folder):
    (folder / "model.safetensors.index.json").write_text(json.dumps([]))
    done = specc("convert", "tiny.yaml", ".", "-o", "ours.safetensors")
    assert "no index of shards: it has no weight_map of file names" in done.err
