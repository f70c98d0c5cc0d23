"""A test file goes on guarding its model after a hand edit: a wrong one is red, others are not."""

import pytest

from specc.pipeline import compile_fully
from specc.verify import quiet_torch
from specc.verify.vendored import vendor
from specc.verify.vendored.trial import first_failure
from tests.architecture.rooms import ROOT

WRONG = {
    "gpt2": {
        "a mask without its diagonal": ("key <= query", "key < query"),
        "another gelu": ('approximate="tanh"', 'approximate="none"'),
        "the wrong residual": (
            "return x + self.feed_forward(self.feed_forward_norm(x))",
            "x = self.feed_forward_norm(x)\n        return x + self.feed_forward(x)",
        ),
        "another eps": ("norm_eps: float = 1e-5", "norm_eps: float = 1e-6"),
        "a position too far": (
            "self.position_embedding(position)",
            "self.position_embedding(position + 1)",
        ),
        "a cache that forgets": ("self.values[:, :, :end]", "self.values[:, :, start:end]"),
        "another start": ("2 * self.config.n_layers", "self.config.n_layers"),
    },
    "set_attention_l2": {
        "a floor a hundred times higher": (
            "qk_norm_eps: float = 1e-12",
            "qk_norm_eps: float = 1e-10",
        ),
        "the mask inverted": ("memory_mask[:, None, None, :]", "~memory_mask[:, None, None, :]"),
        "a temperature too many": ("self.log_scale.exp()", "self.log_scale.exp().exp()"),
    },
    "llama_3_2_1b": {
        "casts in another order": (
            "self.weight * normed.to(x.dtype)",
            "(self.weight * normed).to(x.dtype)",
        ),
    },
}
HARMLESS = {
    "gpt2": (
        ("qkv = self.qkv_proj(x)", "packed = self.qkv_proj(x)"),
        ("qkv.chunk(3, dim=-1)", "packed.chunk(3, dim=-1)"),
        ("hidden = ", "inner = "),
        ("self.down_proj(hidden)", "self.down_proj(inner)"),
        ("class Block(nn.Module):", "# our own remark\nclass Block(nn.Module):"),
    ),
}


@pytest.fixture(scope="module")
def files():
    """(model text, test text) of a spec, made once."""
    made = {}

    def give(name):
        if name not in made:
            compilation = compile_fully(ROOT / "specs" / f"{name}.yaml")
            made[name] = compilation.artifact.text, vendor(compilation).text
        return made[name]

    return give


def edited(text, before, after):
    assert before in text
    return text.replace(before, after)


CASES = [(name, what) for name, edits in WRONG.items() for what in edits]


@pytest.mark.parametrize(("name", "what"), CASES, ids=[what for _, what in CASES])
def test_a_wrong_edit_is_red(files, name, what):
    model, test = files(name)
    with quiet_torch():
        assert first_failure(test, edited(model, *WRONG[name][what]), name) is not None


@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_edit_is_green(files, name):
    model, test = files(name)
    for before, after in HARMLESS[name]:
        model = edited(model, before, after)
    with quiet_torch():
        assert first_failure(test, model, name) is None
