"""A live foreign model's own state_dict becomes ours, gives its logits, and comes back the same."""

from pathlib import Path

import pytest
import torch
import transformers as hf

from specc.convert import to_ours, to_theirs
from specc.importers.layouts import LAYOUTS
from specc.ir.walk import resize
from specc.pipeline import read_model
from specc.render import render
from specc.verify.loading import loaded
from specc.weights import WeightsError
from tests.golden.compare import gap, shake

ROOT = Path(__file__).parents[3]
SIZES = {"vocab_size": 41, "d_model": 24, "n_layers": 3, "n_heads": 4, "head_dim": 6}
GPT2 = SIZES | {"d_ff": 96, "max_seq_len": 9}
LLAMA = SIZES | {"d_ff": 40, "max_seq_len": 9}


def gpt2():
    config = hf.GPT2Config(vocab_size=41, n_embd=24, n_layer=3, n_head=4, n_positions=9)
    return hf.GPT2LMHeadModel(config)


def llama():
    config = hf.LlamaConfig(
        vocab_size=41,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=40,
        rms_norm_eps=1e-5,
    )
    return hf.LlamaForCausalLM(config)


CASES = {"gpt2": (gpt2, "gpt2", GPT2), "llama": (llama, "llama_2_7b", LLAMA)}


def given(name):
    torch.manual_seed(0)
    build, spec, sizes = CASES[name]
    module = build().eval()
    shake(module)
    model = read_model(ROOT / "specs" / f"{spec}.yaml")
    return module, model, sizes, LAYOUTS[model.layout]


@pytest.mark.parametrize("name", CASES)
def test_a_loaded_file_gives_the_same_logits(name):
    module, model, sizes, layout = given(name)
    ours = to_ours(resize(model, sizes), layout, module.state_dict()).tensors
    tokens = torch.randint(0, 41, (2, 9))
    with loaded(render(model), model.name) as file, torch.no_grad():
        live = file.model_class(file.config_class(**sizes)).eval()
        live.load_state_dict(ours, strict=True)
        assert gap(live(tokens), module(tokens).logits) < 1e-5


@pytest.mark.parametrize("name", CASES)
def test_there_and_back_are_the_same_bytes(name):
    module, model, sizes, layout = given(name)
    state = module.state_dict()
    small = resize(model, sizes)
    converted = to_ours(small, layout, state)
    back = to_theirs(small, layout, converted.tensors).tensors
    assert set(state) - set(back) == {name for name, _ in converted.dropped}
    assert all(torch.equal(state[name], tensor) for name, tensor in back.items())


def refused(name, change):
    module, model, sizes, layout = given(name)
    state = module.state_dict()
    change(state)
    with pytest.raises(WeightsError) as caught:
        to_ours(resize(model, sizes), layout, state)
    return str(caught.value)


def test_a_missing_tensor_is_named_with_the_nearest():
    def change(state):
        state["model.layers.1.self_attn.q_prj.weight"] = state.pop(
            "model.layers.1.self_attn.q_proj.weight"
        )

    text = refused("llama", change)
    assert "model.layers.1.self_attn.q_proj.weight: missing; the nearest name is" in text
    assert "model.layers.1.self_attn.q_prj.weight: the model has no use for it" in text


def test_a_wrong_shape_is_named():
    def change(state):
        state["model.norm.weight"] = torch.ones(23)

    assert refused("llama", change) == ("model.norm.weight: shape (23,), and the model needs (24,)")


def test_a_copy_that_is_none():
    def change(state):
        state["lm_head.weight"] = state["lm_head.weight"] + 1

    assert "lm_head.weight: differs from transformer.wte.weight" in refused("gpt2", change)


def test_tensors_of_two_dtypes_are_not_joined():
    module, _, sizes, layout = given("llama")
    body = (ROOT / "specs" / "llama_2_7b.yaml").read_text(encoding="utf-8").split("ledger:")[0]
    fused = read_model(text=body.replace("attention: {", "attention: {projection: fused, "))
    state = module.state_dict()
    name = "model.layers.2.self_attn.k_proj.weight"
    state[name] = state[name].bfloat16()
    with pytest.raises(WeightsError, match=f"^{name}: torch.bfloat16, and .*q_proj.weight"):
        to_ours(resize(fused, sizes), layout, state)
