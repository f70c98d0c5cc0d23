import pytest

from tests.unit.cli.specs import GOOD


@pytest.fixture(autouse=True)
def file(folder, specc):
    (folder / "good.yaml").write_text(GOOD)
    assert specc("build", "good.yaml", "-o", "mine.py").code == 0
    return folder / "mine.py"


def test_true_comments(specc):
    result = specc("shapes", "mine.py")
    assert result.code == 0, result.out
    assert result.out.startswith("mine.py: ")
    assert result.out.endswith(" shape comments say what a run shows\n")


def test_a_lie_is_one_line_with_its_place(specc, file):
    lines = file.read_text().split("\n")
    number = next(i for i, line in enumerate(lines) if line.endswith("# [B, T, F]"))
    lines[number] = lines[number].replace("[B, T, F]", "[B, F, T]")
    file.write_text("\n".join(lines))
    result = specc("shapes", "mine.py")
    assert result.code == 1
    assert result.out.startswith(f"mine.py:{number + 1}: hidden  # [B, F, T]: the value is [")
    assert result.out.count("\n") == 2


@pytest.mark.parametrize("text", ["def f(:\n", "x = 1\n", "raise KeyError('x')\n", "\0"])
def test_a_file_that_is_no_model(specc, file, text):
    file.write_text(text)
    result = specc("shapes", "mine.py")
    assert result.code == 2
    assert result.err.startswith("error: mine.py: ")
    assert result.err.count("\n") == 1


def test_no_file(specc):
    result = specc("shapes", "nowhere.py")
    assert result.code == 2
    assert "nowhere.py" in result.err


def test_not_utf8(specc, file):
    file.write_bytes(b"# \xff\n")
    result = specc("shapes", "mine.py")
    assert (result.code, result.err) == (2, "error: mine.py is not UTF-8\n")
