import pytest

from specc.verify.mutants import CODE_MUTANTS, MUTANTS, Fate, run_mutants
from specc.verify.mutants.patterns import replaced
from tests.unit.verify.files import SPECS, compiled


@pytest.mark.parametrize("name", ["set_attention_l2", "set_attention_rms"])
def test_no_mutant_of_a_small_spec_survives(name):
    results = run_mutants(SPECS / f"{name}.yaml")
    assert [result for result in results if result.status is Fate.SURVIVED] == []
    assert len(results) > 40


def test_every_mutant_has_a_name_of_its_own():
    names = [m.name for mutants in MUTANTS.values() for m in mutants]
    names += [m.name for m in CODE_MUTANTS]
    assert sorted(names) == sorted(set(names))


def test_every_code_mutant_applies_to_some_spec():
    texts = [compiled(spec.stem).artifact.text for spec in SPECS.glob("*.yaml")]
    idle = [m.name for m in CODE_MUTANTS if all(m.edit(text) is None for text in texts)]
    assert idle == []


@pytest.mark.parametrize(
    ("text", "pattern", "replacement", "result"),
    [
        ("y = f(a + 1)", "a + 1", "a", "y = f(a)"),
        ("y = f(a + 1)", "f(_x)", "_x", "y = (a + 1)"),
        ("y = a - a", "_x - _x", "0", "y = 0"),
        ("y = a - b", "_x - _x", "0", None),
        ("c.n = 3", "c.n = 3", "pass", "pass"),
        ("y = g(1)", "f(_x)", "_x", None),
        ("y = f(f(1))", "f(_x)", "_x", "y = f(1)"),
    ],
)
def test_patterns(text, pattern, replacement, result):
    assert replaced(text, pattern, replacement) == result
