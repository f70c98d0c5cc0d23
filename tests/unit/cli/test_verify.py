import json

import pytest

from specc.cli.table import Format, show
from specc.verify.report import CheckResult, Report, Status
from tests.unit.cli.specs import GOOD, changed

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
from specc.cli.guard import guarded
sys.exit(guarded(["verify", "good.yaml"]))
"""


@pytest.fixture(autouse=True)
def spec(folder):
    (folder / "good.yaml").write_text(GOOD)
    return folder / "good.yaml"


def test_a_good_file_is_verified(specc):
    result = specc("verify", "good.yaml")
    assert result.code == 0, result.out
    assert result.out.splitlines()[-1].startswith("good.yaml: verified: ")
    assert "\033" not in result.out


def test_json(capsys):
    report = Report("good.yaml", (result("one", Status.PASS), result("two", Status.NOT_APPLICABLE)))
    show([report], Format.JSON)
    one = json.loads(capsys.readouterr().out)
    assert one == {
        "spec": "good.yaml",
        "checks": [
            {"name": "one", "status": "pass", "evidence": "as \u00a7 says"},
            {"name": "two", "status": "not_applicable", "evidence": "as \u00a7 says"},
        ],
    }
    show([report, report], Format.JSON)
    assert json.loads(capsys.readouterr().out) == [one, one]


def result(name: str, status: Status) -> CheckResult:
    return CheckResult(name, status, "as \u00a7 says", "nothing", None, 0.0)


def test_a_terminal_gets_a_table(capsys, monkeypatch):
    monkeypatch.setattr("specc.cli.table.is_colourful", lambda stream: True)
    show([Report("good.yaml", (result("one", Status.FAIL),))], Format.TABLE)
    text = capsys.readouterr().out
    assert "good.yaml: FAILED: 0 passed, 1 failed, 0 not applicable" in text
    assert "one" in text


def test_a_vendored_and_broken_file_fails(specc, folder):
    specc("build", "good.yaml", "-o", "mine.py")
    text = (folder / "mine.py").read_text()
    assert "F.silu" in text
    (folder / "mine.py").write_text(text.replace("F.silu", "F.gelu"))
    result = specc("verify", "good.yaml", "--file", "mine.py", "--format", "json")
    assert result.code == 1
    assert "fail" in {check["status"] for check in json.loads(result.out)["checks"]}


def test_a_file_that_is_no_python_fails(specc, folder):
    (folder / "mine.py").write_text("def f(:\n")
    result = specc("verify", "good.yaml", "--file", "mine.py")
    assert result.code == 1
    assert "Traceback" not in result.err


def test_a_file_that_is_not_there(specc):
    result = specc("verify", "good.yaml", "--file", "nowhere.py")
    assert result.code == 2
    assert "nowhere.py" in result.err


def test_a_bad_spec(specc, folder):
    (folder / "bad.yaml").write_text(changed("d_model", "d_modle"))
    assert specc("verify", "bad.yaml").code == 2


def test_without_torch_one_line_says_how_to_get_it(folder):
    import os
    import subprocess
    import sys

    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH],
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env=env,
    )
    assert done.returncode == 2
    assert done.stderr == "error: specc verify needs torch: pip install 'torch-specc[verify]'\n"
