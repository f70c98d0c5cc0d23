"""`--with-tests` and `tests = true`: when a test file is written, compared, kept, an orphan."""

import re
import sys

import pytest

from tests.unit.cli.specs import GOOD


@pytest.fixture
def project(folder):
    (folder / "pyproject.toml").write_text("[tool.specc]\ntests = true\n")
    (folder / "specs").mkdir()
    (folder / "specs" / "tiny.yaml").write_text(GOOD)
    return folder


def test_the_project_may_want_tests(specc, project):
    result = specc("build")
    assert (result.code, result.err) == (0, "")
    assert result.out == "wrote generated/test_tiny.py\nwrote generated/tiny.py\n"
    assert specc("check").code == 0


def test_a_last_digit_is_no_drift_and_is_not_written_again(specc, project):
    specc("build")
    file = project / "generated" / "test_tiny.py"
    text = file.read_text()
    number = re.search(r"\[(-?\d+\.\d+),", text)[1]
    file.write_text(text.replace(number, f"{float(number) * (1 + 4e-6):.9f}"))
    assert file.read_text() != text
    assert specc("check").code == 0
    before = file.read_bytes()
    assert specc("build").out.startswith("as it was: generated/test_tiny.py")
    assert file.read_bytes() == before


def test_another_number_is_drift(specc, project):
    specc("build")
    file = project / "generated" / "test_tiny.py"
    file.write_text(file.read_text().replace("[-0.", "[-1.", 1))
    result = specc("check")
    assert result.code == 1
    assert "edited by hand: generated/test_tiny.py" in result.out


def test_a_hand_edit_is_protected(specc, project):
    specc("build")
    file = project / "generated" / "test_tiny.py"
    file.write_text(file.read_text() + "# mine\n")
    result = specc("build")
    assert result.code == 2
    assert "test_tiny.py (edited by hand)" in result.err
    assert specc("build", "--force").code == 0
    assert specc("check").code == 0


def test_a_missing_test_file_is_drift(specc, project):
    specc("build")
    (project / "generated" / "test_tiny.py").unlink()
    result = specc("check")
    assert result.code == 1
    assert "missing: generated/test_tiny.py" in result.out


def test_a_test_file_that_nobody_wants_is_an_orphan(specc, project):
    specc("build")
    (project / "pyproject.toml").write_text("[tool.specc]\n")
    result = specc("check")
    assert result.code == 1
    assert "orphan: generated/test_tiny.py (no spec gives this file; with" in result.out
    assert specc("check", "--with-tests").code == 0


def test_tests_is_true_or_false(specc, project):
    (project / "pyproject.toml").write_text('[tool.specc]\ntests = "yes"\n')
    result = specc("build")
    assert result.code == 2
    assert "tests must be true or false" in result.err


def test_a_file_of_another_name_is_tested_under_that_name(specc, folder):
    (folder / "tiny.yaml").write_text(GOOD)
    assert specc("build", "tiny.yaml", "-o", "mine.py", "--with-tests").code == 0
    assert "\nfrom mine import " in (folder / "test_mine.py").read_text()
    assert specc("check", "tiny.yaml", "-o", "mine.py", "--with-tests").code == 0


@pytest.mark.parametrize(
    ("output", "message"), [("-", "-o - prints one file"), ("my-own.py", "is no Python name")]
)
def test_a_test_file_needs_a_module_beside_it(specc, folder, output, message):
    (folder / "tiny.yaml").write_text(GOOD)
    result = specc("build", "tiny.yaml", "-o", output, "--with-tests")
    assert result.code == 2
    assert message in result.err
    assert sorted(file.name for file in folder.iterdir()) == ["tiny.yaml"]


def test_without_torch_it_says_what_to_install(specc, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    (folder / "tiny.yaml").write_text(GOOD)
    result = specc("build", "tiny.yaml", "--with-tests")
    assert result.code == 2
    assert "test files need torch" in result.err


def test_the_flag_is_explained(specc):
    out = " ".join(specc("build", "--help").out.split())
    assert "test_NAME.py beside each model" in out
    assert "tests = true under [tool.specc]" in out
