import json

import pytest

from specc.cli.mutants import show_mutants
from specc.cli.table import Format
from specc.verify.mutants import Fate, MutantReport, MutantResult
from specc.verify.report import CheckResult, Status
from tests.unit.cli.specs import GOOD

KILLED = MutantResult("eps x 10", Fate.KILLED, "forward_float64", 123.4, "off by 1e-3")
BITS = MutantResult("casts", Fate.KILLED, "norm_casts", None, "74 % equal", 0.26)
YES_OR_NO = MutantResult("no mask", Fate.KILLED, "looking", None, "sees the future")
HARMLESS = MutantResult("key bias", Fate.EQUIVALENT, None, None, "softmax cancels it")
BLIND = MutantResult("blind", Fate.SURVIVED, None, None, "no check noticed")


@pytest.fixture(autouse=True)
def spec(folder):
    (folder / "good.yaml").write_text(GOOD)


@pytest.fixture
def found(monkeypatch):
    """What the run of mutants is said to have found."""
    mutants = [KILLED, BITS, YES_OR_NO, HARMLESS]

    def told(spec, jobs):
        return MutantReport(str(spec), tuple(mutants))

    monkeypatch.setattr("specc.verify.mutants.run_mutants", told)
    return mutants


def test_a_table_and_exit_code_0(specc, found):
    result = specc("verify", "--mutants", "good.yaml")
    assert result.code == 0
    *rows, last = result.out.splitlines()
    assert [row.split()[0] for row in rows] == ["killed", "killed", "killed", "equivalent"]
    assert "123 x" in rows[0]
    assert "26%" in rows[1]
    assert last == (
        "good.yaml: proved: 4 mutants: 3 killed, 1 equivalent, 0 survived; smallest margin 123"
    )


def test_a_survivor_is_exit_code_1(specc, found):
    found.append(BLIND)
    result = specc("verify", "good.yaml", "--mutants")
    assert result.code == 1
    assert "good.yaml: FAILED: 5 mutants" in result.out


def test_json(specc, found):
    data = json.loads(specc("verify", "--mutants", "good.yaml", "--format", "json").out)
    assert data["spec"] == "good.yaml"
    assert [mutant["margin"] for mutant in data["mutants"]] == [123.4, 0.26, None, None]
    assert data["mutants"][3] == {
        "name": "key bias",
        "status": "equivalent",
        "by": None,
        "margin": None,
        "reason": "softmax cancels it",
    }


def test_json_of_several(specc, folder, found):
    (folder / "other.yaml").write_text(GOOD)
    result = specc("verify", "--mutants", "good.yaml", "other.yaml", "--format", "json")
    assert [data["spec"] for data in json.loads(result.out)] == ["good.yaml", "other.yaml"]


def test_a_terminal_gets_a_table(capsys, monkeypatch):
    monkeypatch.setattr("specc.cli.mutants.is_colourful", lambda stream: True)
    show_mutants([MutantReport("good.yaml", (KILLED, BLIND))], Format.TABLE)
    assert "good.yaml: FAILED: 2 mutants" in capsys.readouterr().out


def test_an_unbroken_file_that_fails_proves_nothing(capsys):
    fault = CheckResult("looking", Status.FAIL, "sees the future", "", None, 0.0)
    report = MutantReport("good.yaml", (), fault)
    show_mutants([report], Format.TABLE)
    assert "FAILED: the unbroken file fails looking: sees the future" in capsys.readouterr().out
    assert not report.passed
    assert report.to_dict()["fault"]["name"] == "looking"


def test_it_does_not_go_with_a_file(specc, folder):
    (folder / "mine.py").write_text("")
    result = specc("verify", "--mutants", "good.yaml", "--file", "mine.py")
    assert result.code == 2
    assert "--mutants" in result.err
