import pytest

from specc.spec.style import TABLE

KINDS = ("decoder", "encoder", "encoder-decoder", "features")


@pytest.mark.parametrize(
    "style", ["", *KINDS, "encoder-decoder, post-norm, sinusoidal, tied weights, ReLU"]
)
def test_what_it_writes_builds_at_once(specc, folder, style):
    arguments = ["init", "my_model", style] if style else ["init", "my_model"]
    result = specc(*arguments)
    assert result.out == "wrote my_model.yaml\nnext: specc build my_model.yaml\n"
    assert specc("build", "my_model.yaml").code == 0
    assert (folder / "my_model.py").is_file()


@pytest.mark.parametrize("word", [w for w in TABLE if w not in ("set", "features")])
def test_every_word_that_goes_with_a_decoder_builds(specc, folder, word):
    kind = "" if word in (*KINDS, "decoder-only", "encoder-only") else "decoder, "
    assert specc("init", "my_model", f"{kind}{word}").err == ""


def test_it_is_commented(specc, folder):
    specc("init", "my_model")
    text = (folder / "my_model.yaml").read_text()
    assert text.count("#") > 8
    assert "style: decoder, pre-norm, rms norm, rotary, swiglu, tied weights" in text


def test_it_lands_in_the_project(specc, folder):
    (folder / "pyproject.toml").write_text("[tool.specc]\n")
    assert specc("init", "my_model").out.startswith("wrote specs/my_model.yaml")
    assert specc("build").out == "wrote generated/my_model.py\n"


def test_it_never_overwrites(specc, folder):
    (folder / "my_model.yaml").write_text("mine\n")
    assert specc("init", "my_model").code == 2
    assert (folder / "my_model.yaml").read_text() == "mine\n"
