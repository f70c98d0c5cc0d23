import pytest

from tests.unit.cli.specs import GOOD, changed


@pytest.fixture(autouse=True)
def project(folder, specc):
    (folder / "pyproject.toml").write_text("[tool.specc]\n")
    (folder / "specs").mkdir()
    (folder / "specs" / "tiny.yaml").write_text(GOOD)
    (folder / "specs" / "other.yaml").write_text(changed("name: tiny", "name: other"))
    assert specc("build").code == 0
    return folder


def test_fresh_files_pass(specc):
    result = specc("check")
    assert (result.code, result.out) == (0, "2 files are as their specs say\n")


def test_a_crlf_checkout_is_fresh(specc, project):
    file = project / "generated" / "tiny.py"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert specc("check").code == 0


def test_a_touched_line_shows_as_a_diff(specc, project):
    file = project / "generated" / "tiny.py"
    file.write_text(file.read_text().replace("n_layers: int = 2", "n_layers: int = 3"))
    result = specc("check")
    assert result.code == 1
    assert "edited by hand: generated/tiny.py" in result.out
    assert "-    n_layers: int = 3" in result.out
    assert "+    n_layers: int = 2" in result.out
    assert "1 of 2 files are not as the specs say" in result.out


def test_a_changed_spec_shows(specc, project):
    (project / "specs" / "tiny.yaml").write_text(changed("d_model: 32", "d_model: 64"))
    result = specc("check")
    assert result.code == 1
    assert "changed: generated/tiny.py" in result.out
    assert "+    d_model: int = 64" in result.out


def test_a_missing_file_shows(specc, project):
    (project / "generated" / "tiny.py").unlink()
    result = specc("check")
    assert result.code == 1
    assert "missing: generated/tiny.py" in result.out


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_file_too_many_shows(specc, project, is_ours):
    text = (project / "generated" / "tiny.py").read_text() if is_ours else "x = 1\n"
    (project / "generated" / "more.py").write_text(text)
    result = specc("check")
    assert result.code == 1
    assert "orphan: generated/more.py" in result.out


def test_a_spec_that_went_leaves_an_orphan(specc, project):
    (project / "specs" / "tiny.yaml").unlink()
    result = specc("check")
    assert result.code == 1
    assert "orphan: generated/tiny.py" in result.out


def test_one_spec_is_compared_alone(specc, project):
    (project / "generated" / "other.py").unlink()
    assert specc("check", "specs/tiny.yaml").code == 0
    assert specc("check", "specs/other.yaml").code == 1


def test_with_another_folder_or_file(specc, project):
    (project / "generated").rename(project / "vendored")
    assert specc("check", "specs", "-o", "vendored").code == 0
    assert specc("check", "specs/tiny.yaml", "-o", "vendored/tiny.py").code == 0
    assert specc("check", "specs/tiny.yaml", "-o", "nowhere").code == 1


def test_check_writes_nothing(specc, project):
    (project / "generated" / "tiny.py").unlink()
    before = sorted(project.rglob("*"))
    specc("check")
    assert sorted(project.rglob("*")) == before


def test_a_bad_spec_is_no_drift(specc, project):
    (project / "specs" / "tiny.yaml").write_text(changed("d_model", "d_modle"))
    assert specc("check").code == 2
