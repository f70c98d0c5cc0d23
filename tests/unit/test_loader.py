"""`--with-loader`: a short function in the file that takes a published state_dict."""

import re
import subprocess
import sys
from dataclasses import replace

import black
import pytest
import torch
from torch import Tensor

from specc.convert import to_ours, to_theirs
from specc.importers.hf_configs import Facts, dialect_of
from specc.importers.layouts import LAYOUTS
from specc.ir.layers import NormWeight
from specc.ir.positions import RotaryLayout
from specc.ir.walk import resize
from specc.pipeline import compile_fully, read_model
from specc.render import render
from specc.render.loader import LoaderError
from specc.verify.against.library import Question, build, quiet_library
from specc.verify.loading import loaded
from specc.verify.sizes import reduced_numbers, reduced_sizes
from specc.verify.weights import stress_weights
from specc.weights import Constant
from tests.golden.compare import gap
from tests.prove.tables import PUBLISHED, ROOT, spec_file

STORED = [name for name in PUBLISHED if read_model(spec_file(name)).layout is not None]
FAMILIES = ("gpt2", "bert_base", "pythia_160m", "falcon_40b", "mixtral_8x7b", "gpt_oss_20b")


def small(model):
    sizes = reduced_sizes(model)
    sizes |= dialect_of(model).sizes(Facts(resize(model, sizes)))
    return {**sizes, **reduced_numbers(model, sizes)}


def given(model, layout):
    """Numbers of a small model, and its published tensors."""
    numbers = small(model)
    weights = {n: w.float() for n, w in stress_weights(resize(model, numbers)).items()}
    return numbers, to_theirs(resize(model, numbers), layout, weights).tensors, weights


def loader(text, model, numbers):
    """The function, bound to the reduced Config."""
    with loaded(text, model.name) as file:
        config = file.config_class(**numbers)
        return lambda state: vars(file.module)["load_huggingface"](state, config)


@pytest.mark.parametrize("name", STORED)
def test_it_gives_what_convert_gives(name):
    compilation = compile_fully(spec_file(name), layouts=LAYOUTS)
    model = compilation.model
    numbers, published, weights = given(model, LAYOUTS[model.layout])
    found = loader(compilation.artifact.text, model, numbers)(published)
    assert found.keys() == weights.keys()
    assert all(torch.equal(found[n], w) for n, w in weights.items())


@pytest.mark.parametrize("name", FAMILIES)
def test_the_model_then_computes_what_the_library_computes(name):
    compilation = compile_fully(spec_file(name), layouts=LAYOUTS)
    model = compilation.model
    numbers, published, _ = given(model, LAYOUTS[model.layout])
    with quiet_library():
        theirs = build(resize(model, numbers), dialect_of(model), published, torch.float32)
        state = theirs.published()
    tokens = torch.randint(0, 37, (2, 9), generator=torch.Generator().manual_seed(0))
    with loaded(compilation.artifact.text, model.name) as file, torch.no_grad():
        config = file.config_class(**numbers)
        live = file.model_class(config).eval()
        live.load_state_dict(vars(file.module)["load_huggingface"](state, config), strict=True)
        found = live(tokens)
    found = found if isinstance(found, Tensor) else found[0]
    assert gap(found, theirs.outputs(Question(tokens))[0]) < 1e-5


def test_it_reads_names_without_their_prefix_and_leaves_out_what_it_may():
    compilation = compile_fully(spec_file("gpt2"), layouts=LAYOUTS)
    numbers, published, weights = given(compilation.model, LAYOUTS["gpt2"])
    load = loader(compilation.artifact.text, compilation.model, numbers)
    state = {name.removeprefix("transformer."): tensor for name, tensor in published.items()}
    state["lm_head.weight"] = state["wte.weight"]
    state["h.1.attn.bias"] = torch.ones(9, 9)
    assert load(state).keys() == weights.keys()
    with pytest.raises(ValueError, match=r"lm_head\.weight differs from embedding\.weight"):
        load(state | {"lm_head.weight": state["wte.weight"] + 1})
    with pytest.raises(ValueError, match=r"no use for h\.0\.attn\.extra"):
        load(state | {"h.0.attn.extra": torch.ones(1)})
    del state["wpe.weight"]
    with pytest.raises(KeyError, match=r"wpe\.weight"):
        load(state)


VARIANTS = {
    "turned pairs": ("llama_2_7b", {"pairs": RotaryLayout.INTERLEAVED}),
    "turned pairs of a part": ("phi_2", {"pairs": RotaryLayout.INTERLEAVED}),
    "turned pairs of latent attention": ("deepseek_v3", {"pairs": RotaryLayout.HALF}),
    "gains of another kind": ("gemma_2_2b", {"gains": NormWeight.PLAIN}),
    "rows before the first position": ("gpt2", {"offset": 3}),
}


@pytest.mark.parametrize(("name", "change"), VARIANTS.values(), ids=VARIANTS)
def test_layouts_that_ask_for_more(name, change):
    model = read_model(spec_file(name))
    layout = replace(LAYOUTS[model.layout], **change)
    numbers, published, weights = given(model, layout)
    wanted = to_ours(resize(model, numbers), layout, published).tensors
    found = loader(render(model, layout), model, numbers)(published)
    assert found.keys() == wanted.keys()
    assert all(torch.equal(found[n], w) for n, w in wanted.items())
    close = [(wanted[n] - w).abs().max() for n, w in weights.items()]
    assert max(close) < 1e-6  # adding one and taking it away rounds


def test_a_constant_is_more_than_a_short_function():
    model = read_model(spec_file("gpt2"))
    layout = replace(LAYOUTS["gpt2"], entries=LAYOUTS["gpt2"].entries[:-2])
    layout = replace(layout, constants=(Constant("norm.{kind}", 0.0),))
    with pytest.raises(LoaderError):
        render(model, layout)


@pytest.mark.parametrize("name", ["gpt2", "falcon_40b", "gpt_oss_20b", "mixtral_8x7b"])
def test_the_text_is_clean(name, tmp_path):
    text = compile_fully(spec_file(name), layouts=LAYOUTS).artifact.text
    assert black.format_str(text, mode=black.Mode(line_length=88)) == text
    file = tmp_path / f"{name}.py"
    file.write_text(text, encoding="utf-8")
    for command in (
        ["ruff", "check", "--isolated", "--target-version", "py310", "--select", "E,F,I,UP,B,SIM"],
        ["mypy", "--strict", "--no-warn-return-any", "--config-file="],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command, str(file)], capture_output=True, encoding="utf-8"
        )
        assert done.returncode == 0, done.stdout


def test_without_it_nothing_changes():
    plain = compile_fully(spec_file("gpt2")).artifact.text
    assert plain == (ROOT / "generated" / "gpt2.py").read_text(encoding="utf-8")
    longer = compile_fully(spec_file("gpt2"), layouts=LAYOUTS).artifact.text
    assert _below_imports(longer.split("\n\n\ndef load_huggingface")[0]) == _below_imports(
        plain.rstrip()
    )


def _below_imports(text):
    """Without the imports that the function needs, and without the digests."""
    return re.sub(r"^(import|from|#) ?.*\n", "", text, flags=re.MULTILINE)
