import pytest
import torch

from specc.verify import ALL, Status, verify_text
from tests.unit.verify.files import compiled


def report_on(text: str, **options):
    return verify_text(compiled("gpt2").model, text, "specs/gpt2.yaml", **options)


def test_the_report_as_data():
    report = report_on(compiled("gpt2").artifact.text, only=["imports", "cache"])
    data = report.to_dict()
    assert data["spec"] == "specs/gpt2.yaml"
    assert [check["name"] for check in data["checks"]] == ["imports", "cache"]
    assert all(set(check) == {"name", "status", "evidence"} for check in data["checks"])


def test_an_unknown_check_is_an_error():
    with pytest.raises(ValueError, match="no check 'cashe'"):
        report_on("", only=["cashe"])


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("def f(:\n", "SyntaxError: invalid syntax (line 1 of the file)"),
        ("import torch\nimport no_such_package\n", "ModuleNotFoundError: No module named"),
        ("x = 1\n", "the file has no class Config"),
        ("class Config:\n    pass\n", "the last class, Config, is no nn.Module"),
        ("x = 1 / 0\n", "ZeroDivisionError: division by zero (line 1 of the file)"),
        ("\udcff", "UnicodeEncodeError"),
        ("\0", "SyntaxError"),
    ],
)
def test_a_file_that_does_not_load_is_one_failed_check(text, evidence):
    report = report_on(text)
    assert [check.name for check in report.failures] == ["imports"]
    assert evidence in report.failures[0].evidence
    assert len(report.checks) == len(ALL)
    assert {check.status for check in report.checks[1:]} == {Status.NOT_APPLICABLE}


def test_a_model_that_crashes_fails_with_the_line():
    text = compiled("gpt2").artifact.text.replace(
        "        start = 0 if cache is None else cache.length\n", "        raise KeyError('x')\n"
    )
    report = report_on(text, only=["forward_float64", "looking", "compile"])
    assert len(report.failures) == 3
    assert report.failures[0].evidence.startswith("KeyError: 'x' (line ")


def test_the_callers_random_state_and_threads_stay():
    torch.manual_seed(3)
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    report_on(compiled("gpt2").artifact.text, only=["overfit"])
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads
