"""The mutants themselves: each applies somewhere, each is noticed, and claims are tested."""

import pytest

from specc.pipeline import compile_fully
from specc.verify.mutants import (
    CODE_MUTANTS,
    MUTANTS,
    Fate,
    attempts,
    control,
    run_mutants,
    try_mutants,
)
from specc.verify.mutants.code import CodeMutant
from specc.verify.mutants.equivalence import refuted
from specc.verify.mutants.patterns import replaced
from specc.verify.subject import Known
from tests.specs import SMALL, spec_path
from tests.unit.verify.files import SPECS, compiled

CHOICES = [m.name for mutants in MUTANTS.values() for m in mutants]
CODE = [m.name for m in CODE_MUTANTS]
NOT_A_MISTAKE = {"Pooler: activation = tanh"}  # the one that the language has

# Cheap ones first; together they have every part.
COVERING = (
    "set_attention_l2",
    "set_attention_rms",
    "transformer_encoder_post",
    "tiny_transformer_lm",
    "text_classifier",
    "bert_base",
    "bloom_560m",
    "gpt2",
    "llama_3_2_1b",
    *SMALL,
    "vaswani_base",
    "llama_4_scout",
    "gpt_oss_20b",
    "deepseek_v3",
)


@pytest.mark.parametrize("names", [CHOICES, CODE], ids=["choices", "code"])
def test_every_mutant_is_noticed_in_some_spec(names):
    left = set(names) - NOT_A_MISTAKE
    for spec in COVERING:
        compilation = compile_fully(spec_path(spec))
        results = try_mutants(compilation.model, compilation.artifact.text, left)
        assert [r for r in results if r.status is Fate.SURVIVED] == []
        assert [r for r in results if r.margin is not None and r.margin < 5] == []
        left -= {r.name for r in results}
    assert left == set()


def test_all_mutants_of_a_small_spec():
    report = run_mutants(SPECS / "set_attention_l2.yaml", jobs=2)
    one = compiled("set_attention_l2")
    made = [attempt.name for attempt in attempts(one.model, one.artifact.text)]
    assert [mutant.name for mutant in report.mutants] == made
    assert report.passed
    assert report.of(Fate.SURVIVED) == ()
    assert len(report.mutants) > 45
    assert report.smallest_margin > 5
    data = report.to_dict()
    assert all(set(m) == {"name", "status", "by", "margin", "reason"} for m in data["mutants"])


@pytest.mark.parametrize("spec", SMALL)
def test_the_unbroken_file_passes_as_mutants_are_rendered(spec):
    compilation = compile_fully(spec_path(spec))
    assert control(compilation.model, compilation.artifact.text) is None


def test_mutants_of_a_file_that_is_wrong_itself_prove_nothing():
    compilation = compiled("set_attention_l2")
    wrong = replaced(compilation.artifact.text, "self.log_scale.exp()", "self.log_scale")
    fault = control(compilation.model, wrong)
    assert fault is not None
    assert fault.name == "forward_float64"


def test_every_mutant_has_a_name_of_its_own():
    assert sorted(CHOICES + CODE) == sorted(set(CHOICES + CODE))


def test_a_key_bias_is_dropped_in_vain():
    compilation = compiled("transformer_encoder_post")
    (found,) = try_mutants(compilation.model, compilation.artifact.text, ["code: key bias dropped"])
    assert found.status is Fate.EQUIVALENT
    assert "softmax cancels it" in found.reason


@pytest.mark.parametrize("name", ["code: value bias dropped", "Attention: causal flipped"])
def test_a_claim_that_a_mutant_cannot_matter_is_tested(name):
    compilation = compiled("transformer_encoder_post")
    model, text = compilation.model, compilation.artifact.text
    (attempt,) = attempts(model, text, [name])
    assert attempt.text is not None
    doubt = refuted(model, attempt.text, attempt.model, Known())
    assert doubt is not None
    assert "features differs by" in doubt
    assert refuted(model, text, None, Known()) is None
    assert refuted(model, text, model, Known()) is None


def test_a_survivor_is_reported(monkeypatch):
    blind = CodeMutant("code: blind", lambda text: text.replace("class Block", "class  Block"))
    monkeypatch.setattr("specc.verify.mutants.CODE_MUTANTS", (blind,))
    compilation = compiled("set_attention_l2")
    (found,) = try_mutants(compilation.model, compilation.artifact.text, ["code: blind"])
    assert found.status is Fate.SURVIVED
    assert found.to_dict()["by"] is None


@pytest.mark.parametrize(
    ("text", "pattern", "replacement", "result"),
    [
        ("y = f(a + 1)", "a + 1", "a", "y = f(a)"),
        ("y = f(a + 1)", "f(_x)", "_x", "y = (a + 1)"),
        ("y = 2 * f(a + 1)  # [B, T]", "f(_x)", "_x", "y = 2 * (a + 1)  # [B, T]"),
        ("y = f(\n    a,\n    b=1,\n)", "f(_x, b=_y)", "g(_y)", "y = g(1)"),
        ("y = a - a", "_x - _x", "0", "y = 0"),
        ("y = a - b", "_x - _x", "0", None),
        ("c.n = 3  # so", "c.n = 3", "pass", "pass  # so"),
        ("y = g(1)", "f(_x)", "_x", None),
        ("y = f(f(1))", "f(_x)", "_x", "y = f(1)"),
        ("batch, _ = x", "batch, _ = x", "pass", "pass"),
        ("batch, y = x", "batch, _ = x", "pass", None),
    ],
)
def test_patterns(text, pattern, replacement, result):
    assert replaced(text, pattern, replacement) == result
