"""What the README shows is true: its spec builds, and the code beside it is what comes out."""

import re
from pathlib import Path

import pytest
import torch
import typer.main

from specc.cli.app import app
from specc.pipeline import compile_spec
from specc.verify.loading import loaded

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block(language: str, number: int = 0) -> str:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)[number]


def test_the_calls_work():
    with loaded(compile_spec(text=block("yaml")).text, "small_lm") as file:
        small = file.config_class(vocab_size=11, d_model=16, n_layers=1, d_ff=8)
        tokens = torch.randint(11, (3, 5))
        names = {
            "torch": torch,
            "tokens": tokens[:1],
            "token_mask": None,
            "SmallLm": lambda: file.model_class(small),
        }
        exec(compile(block("python", 1), "README.md", "exec"), names)
    assert names["text"].shape == (1, 5 + 64)
    assert names["logits"].shape == (1, 1, 11)


def test_a_large_model_is_built_once():
    with loaded(compile_spec(text=block("yaml")).text, "small_lm") as file:
        small = file.config_class(vocab_size=11, d_model=16, n_layers=1, d_ff=8)
        names = {"torch": torch, "SmallLm": lambda: file.model_class(small)}
        exec(compile(block("python", 2), "README.md", "exec"), names)
        logits = names["model"].eval()(torch.randint(11, (3, 5)))
    assert logits.isfinite().all()
    assert logits.std() > 0


def test_the_code_is_what_the_spec_gives():
    assert block("python") in compile_spec(text=block("yaml")).text


@pytest.mark.parametrize("verb", sorted(typer.main.get_command(app).commands))
def test_every_verb_is_named(verb):
    assert f"`specc {verb}" in README


def test_the_toml_is_the_default():
    assert block("toml").count("=") == 2
    assert 'specs = "specs"' in block("toml")


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_lead_somewhere(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        assert target.startswith("https://") or (ROOT / target).exists()
