import json
import re
from pathlib import Path

import pytest

from specc.cli import sheet
from tests.unit.cli.specs import GOOD

SPECS = Path(__file__).parents[3] / "specs"
GPT2 = SPECS / "gpt2.yaml"


def test_json_holds_exact_numbers(specc):
    found = json.loads(specc("card", GPT2, "--format", "json").out)
    assert (found["name"], found["batch"], found["length"]) == ("gpt2", 1, 1024)
    parameters = found["parameters"]
    assert parameters["total"] == parameters["active"] == 124_439_808
    assert parameters["without_embeddings"] == 124_439_808 - (50_257 + 1024) * 768
    assert sum(parameters["by_kind"].values()) == 124_439_808
    # Kaplan et al. 2020, table 1: 2N + 2 n_layer n_ctx d_model, here with q k^T and the output
    # matrix, without biases and norms.
    forward = 2 * (12 * 12 * 768**2 + 50_257 * 768) + 12 * 2 * 2 * 1024 * 768
    assert found["flops"]["forward_per_token"] == forward
    assert found["flops"]["training_per_token"] == 3 * forward
    assert found["flops"]["forward"] == 1024 * forward
    assert found["flops"]["decode_step"] == forward
    assert found["bytes"]["bfloat16"]["cache_per_token"] == 2 * 2 * 12 * 768
    assert found["bytes"]["bfloat16"]["cache"] == 1024 * 2 * 2 * 12 * 768
    assert found["bytes"]["float32"]["weights"] == 4 * 124_439_808
    modules = {each["module"]: each for each in found["modules"]}
    assert modules["layers.*.attention"]["layers"] == list(range(12))
    assert modules["embedding"]["layers"] is None
    assert modules["logits"]["parameters"] == 0  # tied


@pytest.mark.parametrize("how", ["table", "markdown"])
def test_what_a_person_reads_says_the_same(specc, how):
    out = specc("card", GPT2, "--format", how).out
    assert "GPT-2 (small): 1 text of 1,024 tokens" in out
    for number in ("124,439,808", "85,056,000", "284,812,800", "854,438,400", "36,864"):
        assert re.search(rf"(?<![\d,]){number}(?![\d,])", out)


def test_markdown_is_tables(specc):
    lines = specc("card", GPT2, "--format", "markdown").out.splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert sum("---" in line for line in tables) == 4
    assert r"| layers.\*.attention\_norm |" in "".join(tables)


def test_a_terminal_gets_colour(specc, monkeypatch):
    monkeypatch.setattr(sheet, "is_colourful", lambda stream: True)
    monkeypatch.setenv("COLUMNS", "200")
    out = specc("card", GPT2).out
    assert "124,439,808" in out
    assert "─" in out


def test_the_batch_multiplies_what_is_not_per_token(specc):
    one, two = (
        json.loads(specc("card", GPT2, "--format", "json", "--batch", n).out) for n in (1, 2)
    )
    for name in ("forward", "training", "decode_step"):
        assert two["flops"][name] == 2 * one["flops"][name]
        assert two["flops"][f"{name}_per_token"] == one["flops"][f"{name}_per_token"]
    small, large = one["bytes"]["float32"], two["bytes"]["float32"]
    assert large["cache"] == 2 * small["cache"]
    assert large["activations"] == 2 * small["activations"]
    assert large["weights"] == small["weights"]


def test_attention_grows_with_the_length(specc):
    short, long = (
        json.loads(specc("card", GPT2, "--format", "json", "--length", n).out) for n in (1, 11)
    )
    gap = long["flops"]["forward_per_token"] - short["flops"]["forward_per_token"]
    assert gap == 10 * 12 * 2 * 2 * 768


def test_experts_count_as_they_are_chosen(specc):
    found = json.loads(specc("card", SPECS / "mixtral_8x7b.yaml", "--format", "json").out)
    idle = 32 * 6 * 3 * 4096 * 14336
    assert found["parameters"]["total"] - found["parameters"]["active"] == idle
    assert any("experts" in note for note in found["counted"])


def test_what_has_no_cache_says_so(specc):
    found = json.loads(specc("card", SPECS / "bert_base.yaml", "--format", "json").out)
    assert found["flops"]["decode_step"] is None
    assert found["bytes"]["float32"]["cache"] is None
    table = specc("card", SPECS / "bert_base.yaml").out
    assert "cache" not in table
    assert "decode" not in table


@pytest.mark.parametrize(
    ("spec", "length"),
    [("gpt2", 1024), ("bert_base", 512), ("deepseek_v3", 2048), ("bloom_560m", 2048)],
)
def test_the_usual_length(specc, spec, length):
    out = specc("card", SPECS / f"{spec}.yaml", "--format", "json").out
    assert json.loads(out)["length"] == length


def test_help_names_every_field(specc):
    text = specc("card", "--help").out
    for word in ("SPEC", "--length", "--batch", "--format", "markdown", "max_seq_len"):
        assert word in text


@pytest.mark.parametrize("spec", sorted(SPECS.glob("*.yaml")), ids=lambda spec: spec.stem)
def test_every_spec_has_a_card(specc, spec):
    found = json.loads(specc("card", spec, "--format", "json").out)
    parts = found["modules"]
    assert sum((len(p["layers"] or [0])) * p["parameters"] for p in parts) == (
        found["parameters"]["total"]
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["good.yaml", "--length", "65"], "max_seq_len 64"),
        (["good.yaml", "--length", "0"], "--length"),
        (["good.yaml", "--length", "-3"], "--length"),
        (["good.yaml", "--length", "many"], "--length"),
        (["good.yaml", "--length", str(10**30)], "--length"),
        (["good.yaml", "--batch", "0"], "--batch"),
        (["good.yaml", "--format", "xml"], "xml"),
        (["bad.yaml"], "bad.yaml:5:1: error: "),
        (["missing.yaml"], "no such spec: missing.yaml"),
        (["."], "is a folder"),
        ([], "SPEC"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refused(specc, folder, arguments, named):
    (folder / "good.yaml").write_text(GOOD)
    (folder / "bad.yaml").write_text(GOOD.replace("d_model: 32", "d_modle: 32"))
    result = specc("card", *arguments)
    assert result.code == 2
    assert result.out == ""
    assert named in result.err
    assert result.err.count("rror: ") == 1
    assert "Traceback" not in result.err
