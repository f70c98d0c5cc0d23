"""The files made from the seed systems' specs against what the seeds' own code answered.

The answers are in `vectors/`; each file there says how it came about.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from specc.loading import import_artifact
from specc.pipeline import compile_fully
from tests.golden.compare import gap
from tests.seeds.loading import LIMITS, SPECS, loaded
from tests.seeds.vectors import Vector, vector
from tests.seeds.waves import wave_weights, waves

CASES = [
    ("tiny_transformer_lm", "logits", "causal"),
    ("tiny_transformer_lm", "logits", "right"),
    ("tiny_transformer_lm", "logits", "left"),
    ("text_classifier", "class_logits", "full"),
    ("text_classifier", "class_logits", "right"),
    ("set_attention_l2", "attention", "full"),
    ("set_attention_l2", "attention", "padded"),
    ("set_attention_l2", "feed_forward", "queries"),
    ("set_attention_rms", "attention", "full"),
    ("set_attention_rms", "attention", "padded"),
    ("set_attention_rms", "feed_forward", "queries"),
    ("transformer_encoder_post", "features", "full"),
    ("transformer_encoder_post", "features", "right"),
    ("transformer_encoder_post", "features", "left"),
    ("transformer_encoder_pre", "features", "full"),
    ("transformer_encoder_pre", "features", "right"),
    ("transformer_encoder_pre", "features", "left"),
]
# what the docstring of tiny_transformer_lm says
WORDS = "norm, layer norm, sinusoidal, GELU, untied"
ADD_AND_NORM = (f"pre-{WORDS}", f"post-{WORDS}\nfinal_norm: true")
OTHER_READINGS = [
    ("tiny_transformer_lm", "left", *ADD_AND_NORM),
    ("tiny_transformer_lm", "left", "index: arange", "index: mask"),
    ("tiny_transformer_lm", "causal", "GELU", "GELU tanh"),
    ("text_classifier", "right", "scale: sqrt_d_model", "scale: one"),
    ("text_classifier", "right", "pool: first", "pool: mean"),
    ("set_attention_l2", "padded", "scale: one", "scale: inv_sqrt_head_dim"),
    ("set_attention_rms", "padded", "scale: inv_sqrt_head_dim", "scale: one"),
    ("set_attention_rms", "queries", "relu squared", "relu"),
    ("transformer_encoder_post", "left", "index: arange", "index: mask"),
    ("transformer_encoder_pre", "right", "ReLU", "GELU"),
]


def built(main_class: type[Any], config_class: type[Any], v: Vector) -> Any:
    """The model at the vector's sizes, with its weights, in eval mode."""
    model: nn.Module = main_class(config_class(**v.sizes)).eval()
    model.load_state_dict(wave_weights({n: p.shape for n, p in model.named_parameters()}))
    return model.requires_grad_(False)


def answer(model: Any, v: Vector, case: str) -> Tensor:
    """What the model says to the case's inputs; of a set, what the parts of its block say."""
    mask = torch.tensor(v.given[case]) if case in v.given else None
    if "tokens" in v.given:
        found = model(torch.tensor(v.given["tokens"]), mask)
        return found if isinstance(found, Tensor) else found.logits
    width = v.sizes["d_model"]
    queries = waves((3, 2, width), 5000).to(torch.get_default_dtype())
    if case == "queries":
        return model.layers[0].feed_forward(queries)
    memory = 2 * waves((3, 5, width), 6000).to(torch.get_default_dtype())
    visible = None if mask is None else mask[:, None, None, :]
    return model.layers[0].cross_attention(queries, memory, visible)


@pytest.mark.parametrize(("name", "output", "case"), CASES)
def test_the_seed_and_the_generated_file_agree(name, output, case, dtype):
    v = vector(name)
    made = loaded(name)
    found = answer(built(made.Model, made.Config, v), v, case)
    assert found.dtype == dtype
    assert gap(found, v.answer(case, output)) < LIMITS[dtype]


@pytest.mark.parametrize("layers", [(), (0,), (1,), (1, 0)], ids=str)
def test_attention_weights_of_the_layers_asked_for(layers, dtype):
    v = vector("tiny_transformer_lm")
    made = loaded("tiny_transformer_lm")
    tokens = torch.tensor(v.given["tokens"])
    found = built(made.Model, made.Config, v)(tokens, attention_layers=layers)
    assert gap(found.logits, v.answer("causal", "logits")) < LIMITS[dtype]
    assert len(found.attention_weights) == len(layers)
    for layer, weights in zip(layers, found.attention_weights, strict=True):
        assert gap(weights, v.answer("causal", f"weights_{layer}")) < LIMITS[dtype]


def test_a_bare_call_of_the_seed_is_bidirectional_and_ours_is_not(dtype):
    v = vector("tiny_transformer_lm")
    made = loaded("tiny_transformer_lm")
    found = answer(built(made.Model, made.Config, v), v, "bare")
    assert gap(found, v.answer("bare", "logits")) > 1e-2
    assert gap(found, v.answer("causal", "logits")) < LIMITS[dtype]


@pytest.mark.parametrize(("name", "case", "words", "others"), OTHER_READINGS)
def test_the_answers_tell_a_spec_from_a_near_miss(name, case, words, others):
    v = vector(name)
    made = loaded(name)
    text = (SPECS / f"{name}.yaml").read_text(encoding="utf-8").partition("\nledger:")[0]
    assert text.count(words) == 1
    compiled = compile_fully(text=text.replace(words, others))
    module = import_artifact(compiled.artifact)
    model = built(vars(module)[compiled.model.class_name], module.Config, v)
    assert model.state_dict().keys() == built(made.Model, made.Config, v).state_dict().keys()
    output = {output for each, output, c in CASES if (each, c) == (name, case)}.pop()
    assert gap(answer(model, v, case).double(), v.answer(case, output)) > 1e-5
