"""Faults of published models that need a probe of their own, in the files that we generate."""

from __future__ import annotations

import ast
import re

import pytest
import torch

from specc.golden.positions import alibi_slopes
from specc.pipeline import compile_fully, read_model
from specc.render import render
from specc.verify import Status, verify_text
from specc.verify.checks.compiling import Compile
from specc.verify.loading import loaded
from specc.verify.sizes import reduced_sizes
from specc.verify.subject import Subject
from tests.architecture.rooms import ROOT
from tests.specs import spec_path
from tests.unit.verify.files import SPECS, compiled, edited

LATE = 1024
TABLES = ("llama_3_2_1b", "vaswani_base", "parallel_partial", "concat_translator")
FILES = sorted((ROOT / "generated").glob("*.py"))

ALIBI = """
specc: 1
name: slopes
style: decoder, pre-norm, rms norm, ALiBi, relu
vocab_size: 8
d_model: {width}
n_layers: 1
attention: {{n_heads: {n_heads}}}
feed_forward: {{d_ff: 8}}
"""


def long_model(name):
    """The file's model with tables of 1,024 rows, all else small."""
    model = read_model(spec_path(name))
    sizes = {**reduced_sizes(model), "max_seq_len": LATE}
    with loaded(render(model), model.name) as file:
        return file.model_class(file.config_class(**sizes))


def tables(live):
    return {name: buffer for name, buffer in live.named_buffers() if len(buffer) == LATE}


@pytest.mark.parametrize("name", TABLES)
def test_tables_are_formed_in_float64_and_rounded_once(name):
    exact = long_model(name).double()
    exact.reset_parameters()
    wanted = tables(exact)
    assert wanted
    for dtype, half_step in ((torch.bfloat16, 2.0**-9), (torch.float16, 2.0**-12)):
        found = tables(long_model(name).to(dtype))
        for key, table in wanted.items():
            # through float32: a second rounding may add a little
            assert (found[key].double() - table).abs().max() < 1.01 * half_step


@pytest.mark.parametrize("name", TABLES)
def test_every_place_has_angles_of_its_own(name):
    for table in tables(long_model(name)).values():
        assert len(torch.unique(table, dim=0)) == LATE


@pytest.mark.parametrize("n_heads", range(1, 21))
def test_slopes_of_any_number_of_heads(n_heads):
    model = read_model(text=ALIBI.format(width=2 * n_heads, n_heads=n_heads))
    with loaded(render(model), model.name) as file:
        slopes = file.model_class().double().alibi
        slopes.reset_parameters()
    wanted = torch.tensor(alibi_slopes(n_heads), dtype=torch.float64)
    assert torch.allclose(slopes.slopes, wanted, rtol=1e-15, atol=0)


def test_twelve_layers_compile_as_few_times_as_two(monkeypatch):
    compilation = compiled("gpt2")
    found = {}
    for n_layers in (2, 12):
        sizes = {**reduced_sizes(compilation.model), "n_layers": n_layers}
        with loaded(compilation.artifact.text, "gpt2") as file:
            subject = Subject(compilation.model, file)
            monkeypatch.setattr(Subject, "sizes", sizes)
            outcome = Compile().run(subject)
        assert outcome.status is Status.PASS, outcome.evidence
        found[n_layers] = re.search(r"captured (\d+) times", outcome.evidence)[1]
    assert found[2] == found[12]


def test_a_model_that_remembers_a_longer_call_is_caught():
    """Frequencies that follow the longest call so far, as dynamic scaling was once written."""
    compilation = compiled("llama_3_2_1b")
    text = edited(
        compilation.artifact.text,
        "        cos, sin = self.cos[position], self.sin[position]\n",
        "        rows = torch.arange(len(self.cos))[position]\n"
        "        self.longest = max(vars(self).get('longest', 5), int(rows.max()))\n"
        "        rows = rows * 5 // self.longest\n"
        "        cos, sin = self.cos[rows], self.sin[rows]\n",
    )
    report = verify_text(compilation.model, text, "llama", only=["eval_determinism"])
    assert "changes by" in report.failures[0].evidence
    assert "after a longer call" in report.failures[0].evidence


def test_the_largest_negative_number_is_no_mask():
    """A padding plane and a causal plane of it add up to -inf, and a row of that is nan."""
    compilation = compiled("llama_3_2_1b")
    low = "(torch.where(causal, 0.0, torch.finfo(torch.float16).min)"
    text = edited(
        compilation.artifact.text,
        "return (causal & real) | (key == query), False",
        f"return {low} + torch.where(real, 0.0, torch.finfo(torch.float16).min)).half(), False",
    )
    report = verify_text(compilation.model, text, "llama", only=["dtypes", "fully_masked_rows"])
    assert len(report.failures) == 2


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_what_no_generated_file_holds(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    names = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    names |= {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    # torch's own layers: fused paths that cut lengths and answer nan for empty rows
    assert not names & {"TransformerEncoder", "TransformerEncoderLayer", "MultiheadAttention"}
    # a fill that overflows in float16, and the search for what torch can do
    assert not names & {"finfo", "hasattr", "getattr", "__version__"}
    assert not any(isinstance(node, ast.Try) for node in ast.walk(tree))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_dropout_inside_attention_is_gated_by_training(file):
    tree = ast.parse(file.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.keyword)]
    given = {ast.unparse(node.value) for node in calls if node.arg == "dropout_p"}
    assigned = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Assign)}
    for name in given:
        assert f"{name} = self.dropout if self.training else 0.0" in assigned


def test_torch_is_new_enough_for_what_the_files_call():
    """Grouped heads in SDPA came with torch 2.5."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert set(re.findall(r"torch>=([\d.]+)", text)) == {"2.5"}


def test_a_compiled_spec_is_the_same_under_its_own_options():
    """The same spec twice gives the same bytes: nothing of a former build stays behind."""
    first = compile_fully(SPECS / "gpt2.yaml").artifact.text
    compile_fully(SPECS / "bert_base.yaml")
    assert compile_fully(SPECS / "gpt2.yaml").artifact.text == first
