"""all-MiniLM-L6-v2 as its package brings it: trained weights, real sentences."""

import torch
from safetensors.torch import load_file

from specc.importers.layouts import LAYOUTS
from specc.weights import Drop, operations
from tests.importers.sentences import FOLDER, SENTENCES, both, compiled, executed, ours

LIMIT = 1e-5


def test_embeddings_agree_with_the_library(tmp_path):
    own, other = both(tmp_path)
    assert own.shape == (len(SENTENCES), 384)
    assert (own - other).abs().max() < LIMIT


def test_alike_sentences_lie_close(tmp_path):
    own, _ = both(tmp_path)
    alike = own @ own.T
    assert alike[2, 3] > 0.5 > 0.2 > alike[2, 9]


def test_the_loader_in_the_file_gives_the_same_tensors(tmp_path):
    compilation = compiled()
    state = vars(executed(compilation))["load_huggingface"](load_file(FOLDER / "model.safetensors"))
    live = ours(compilation, tmp_path).state_dict()
    assert state.keys() == live.keys()
    assert all(torch.equal(state[name], tensor) for name, tensor in live.items())


def test_what_is_left_out_has_a_reason():
    model = compiled().model
    drops = [op for op in operations(model, LAYOUTS["bert"]) if isinstance(op, Drop)]
    held = {"bert.pooler.dense.{kind}", "bert.embeddings.position_ids"}
    assert held <= {drop.pattern for drop in drops}
