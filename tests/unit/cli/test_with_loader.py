"""`--with-loader` and `loader = true`: what is written, compared and refused."""

import pytest

from tests.unit.cli.specs import GOOD, changed

STORED = changed("name: tiny", "name: tiny\nsource: {layout: llama}")


@pytest.fixture
def project(folder):
    (folder / "pyproject.toml").write_text("[tool.specc]\nloader = true\n")
    (folder / "specs").mkdir()
    (folder / "specs" / "tiny.yaml").write_text(STORED)
    return folder


def test_the_project_may_want_loaders(specc, project):
    assert specc("build").code == 0
    text = (project / "generated" / "tiny.py").read_text()
    assert "\ndef load_huggingface(\n" in text
    assert specc("check").code == 0
    (project / "pyproject.toml").write_text("[tool.specc]\n")
    result = specc("check")
    assert result.code == 1
    assert "-def load_huggingface(" in result.out
    assert specc("check", "--with-loader").code == 0


def test_one_file(specc, folder):
    (folder / "tiny.yaml").write_text(STORED)
    assert "load_huggingface" in specc("build", "tiny.yaml", "-o", "-", "--with-loader").out
    assert "load_huggingface" not in specc("build", "tiny.yaml", "-o", "-").out


def test_a_spec_without_a_layout_gets_none(specc, folder):
    (folder / "tiny.yaml").write_text(GOOD)
    result = specc("build", "tiny.yaml", "--with-loader")
    assert result.code == 0
    assert result.err == "tiny.yaml has no source.layout: its file has no loader\n"
    assert "load_huggingface" not in (folder / "tiny.py").read_text()


def test_an_unknown_layout(specc, folder):
    (folder / "tiny.yaml").write_text(STORED.replace("layout: llama", "layout: lama"))
    result = specc("build", "tiny.yaml", "--with-loader")
    assert result.code == 2
    assert "no layout 'lama'" in result.err
    assert not (folder / "tiny.py").exists()


def test_a_layout_that_does_not_fit(specc, folder):
    (folder / "tiny.yaml").write_text(STORED.replace("layout: llama", "layout: gpt2"))
    result = specc("build", "tiny.yaml", "--with-loader")
    assert result.code == 2
    assert "layout gpt2 does not say how it is stored" in result.err


def test_the_project_must_say_true_or_false(specc, project):
    (project / "pyproject.toml").write_text("[tool.specc]\nloader = 1\n")
    result = specc("build")
    assert result.code == 2
    assert "[tool.specc] loader must be true or false" in result.err
