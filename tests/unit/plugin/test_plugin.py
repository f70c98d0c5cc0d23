"""pytest with specc installed: specs are collected, one item a check, evidence as the message."""

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib.metadata import entry_points

import pytest

from specc.cli.guard import guarded
from tests.architecture.rooms import ROOT
from tests.unit.cli.specs import GOOD, changed

IS_INSTALLED = bool(entry_points(group="pytest11", name="specc"))
FEW = "imports or config or forward_float64 or up_to_date"


@dataclass(frozen=True)
class Run:
    code: int
    out: str


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Two specs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text("[tool.specc]\n[tool.pytest.ini_options]\n")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "tiny.yaml").write_text(GOOD)
    (tmp_path / "specs" / "other.yaml").write_text(changed("name: tiny", "name: other"))
    return tmp_path


@pytest.fixture
def built(project, capsys):
    """Their files too, and a YAML file beside them that is no spec."""
    assert guarded(["build"]) == 0
    capsys.readouterr()
    (project / "specs" / "compose.yaml").write_text("services:\n  specc: {image: x}\n")
    return project


def run(folder, *arguments):
    plugin = [] if IS_INSTALLED else ["-p", "specc.pytest_plugin"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "OMP_NUM_THREADS": "1"},
    )
    return Run(done.returncode, done.stdout)


def test_kept_files_are_checked_on_two_workers(built):
    result = run(built, "specs", "-q", "-n", "2", "-k", FEW)
    assert result.code == 0, result.out
    assert "8 passed" in result.out


def test_a_corrupted_file_is_red_with_the_evidence(built):
    file = built / "generated" / "tiny.py"
    text = file.read_text()
    assert "second * cos + first * sin" in text
    file.write_text(text.replace("second * cos + first * sin", "second * cos - first * sin"))
    report = built / "report.xml"
    result = run(built, "specs", "-q", "-k", FEW, f"--junitxml={report}")
    assert result.code == 1, result.out
    assert "2 failed, 6 passed" in result.out
    assert "tiny.py: relative error" in result.out
    assert "the first part that differs: layers.0.attention" in result.out
    assert "(specc build writes it anew)" in result.out
    assert "Traceback" not in result.out
    assert ".py:" not in result.out.replace("tiny.py:", "")
    xml = report.read_text()
    assert 'failures="2"' in xml
    assert 'name="forward_float64"' in xml
    assert "tiny.py: relative error" in xml


def test_the_first_failure_can_stop_it(built):
    (built / "generated" / "tiny.py").write_text("this is no Python\n")
    result = run(built, "specs/tiny.yaml", "-q", "-x")
    assert result.code == 1, result.out
    assert "1 failed" in result.out
    assert "passed" not in result.out


def test_without_a_kept_file_a_fresh_build_is_checked(project):
    result = run(project, "specs/tiny.yaml", "-q", "-k", FEW)
    assert result.code == 0, result.out
    assert "3 passed" in result.out


def test_a_bad_spec_is_one_failure_that_says_where(project):
    (project / "specs" / "tiny.yaml").write_text(changed("d_model: 32", "d_mode: 32"))
    result = run(project, "specs/tiny.yaml", "-q")
    assert result.code == 1, result.out
    assert "tiny.yaml:5:1" in result.out
    assert "1 failed" in result.out
    assert "FAILED specs/tiny.yaml::spec" in result.out


def test_specs_outside_the_specs_folder_are_fixtures(project):
    """Unless the command line names them."""
    (project / "cases").mkdir()
    (project / "cases" / "broken.yaml").write_text("specc: 1\n")
    assert "no tests" in run(project, "cases", "-q").out
    assert "1 failed" in run(project, "cases/broken.yaml", "-q").out


def test_an_ordinary_run_pays_nothing(project):
    (project / "test_plain.py").write_text(
        "import sys\n\n\ndef test_plain():\n"
        "    heavy = {'torch', 'pydantic', 'jinja2', 'libcst', 'black', 'specc.verify'}\n"
        "    assert not heavy & set(sys.modules)\n"
    )
    result = run(project, "test_plain.py", "-q", "-p", "no:hypothesispytest")
    assert result.code == 0, result.out
