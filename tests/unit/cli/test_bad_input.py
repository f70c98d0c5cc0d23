"""Every bad input ends in one clear message with its place, exit code 2, and no file."""

import os
import re

import pytest

from tests.unit.cli.specs import GOOD, changed

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)

# what it is: (the spec, what the message must name, whether there is a line to point at)
BAD = {
    "unknown key": (changed("d_model", "d_modle"), "d_modle", True),
    "misspelt word": (changed("pre-norm", "pre-nrom"), "pre-norm", True),
    "misspelt kind": (GOOD + "norm: rsm\n", "rms", True),
    "on": (changed("n_layers: 2", "n_layers: on"), "n_layers", True),
    "duplicate key": (GOOD + "d_model: 64\n", "duplicate", True),
    "30 heads over 8": (
        changed("{n_heads: 4}", "{n_heads: 30, n_kv_heads: 8, head_dim: 8}"),
        "30",
        True,
    ),
    "keyword name": (changed("name: tiny", "name: class"), "keyword", True),
    "path name": (changed("name: tiny", "name: ../tiny"), "path", True),
    "absolute name": (changed("name: tiny", "name: /tmp/tiny"), "path", True),
    "method name": (changed("name: tiny", "name: tiny\nclass: Tensor"), "Tensor", True),
    "calling expression": (
        changed("d_ff: 64", "d_ff: __import__('os').system('true')"),
        "d_ff",
        True,
    ),
    "exploding expression": (changed("d_ff: 64", 'd_ff: "9**9**9**9"'), "d_ff", True),
    "multiplying expression": (
        changed("d_ff: 64", f'd_ff: "{" * ".join(["d_model"] * 9)}"'),
        "d_ff",
        True,
    ),
    "division by zero": (changed("d_ff: 64", 'd_ff: "d_model // (d_model - 32)"'), "d_ff", True),
    "no norm placement": (changed("pre-norm, ", ""), "norm_placement", False),
    "clashing style words": (
        changed("pre-norm", "pre-norm, post-norm"),
        "'pre-norm' and 'post-norm'",
        True,
    ),
    "alias bomb": (GOOD + BOMB, "alias", True),
    "two megabytes": (GOOD + "# " + "x" * 2_000_000 + "\n", "too many", False),
    "empty": ("", "empty", False),
    "only a comment": ("# nothing\n", "empty", False),
    "two documents": (GOOD + "---\n" + GOOD, "second document", True),
    "a list": ("- a\n- b\n", "mapping", True),
    "a tag": (changed("d_model: 32", "d_model: !!python/object:os.system 32"), "tag", True),
    "an unclosed bracket": (changed("{n_heads: 4}", "{n_heads: 4"), "", True),
    "a control character": (changed("name: tiny", "name: tiny\ntitle: a\x07b"), "U+0007", True),
}


@pytest.mark.parametrize(("text", "named", "has_line"), BAD.values(), ids=BAD)
def test_a_bad_spec(specc, folder, text, named, has_line):
    (folder / "bad.yaml").write_text(text, encoding="utf-8", newline="\n")
    check_refused(specc("build", "bad.yaml", "-o", "out"), named, has_line)
    assert os.listdir(folder) == ["bad.yaml"]


def check_refused(result, named, has_line):
    assert result.code == 2
    assert result.out == ""
    assert "Traceback" not in result.err
    assert named in result.err
    place = r"bad\.yaml:\d+:\d+: error: " if has_line else r"bad\.yaml(:\d+:\d+)?: error: "
    messages = [line for line in result.err.splitlines() if "error: " in line]
    assert len(messages) == 1
    assert all(re.match(place, message) for message in messages)


def test_bytes_that_are_not_utf_8(specc, folder):
    (folder / "bad.yaml").write_bytes(GOOD.encode() + b"title: \xff\n")
    check_refused(specc("build", "bad.yaml", "-o", "out"), "UTF-8", True)
    assert os.listdir(folder) == ["bad.yaml"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["build", "empty"], "no spec (*.yaml) in empty"),
        (["build", "missing.yaml"], "no such spec: missing.yaml"),
        (["build", "godo.yaml"], "Did you mean good.yaml?"),
        (["build"], "[tool.specc]"),
        (["build", "good.yaml", "more/twin.yaml"], "both give tiny.py"),
        (["build", "good.yaml", "more/other.yaml", "-o", "-"], "takes one spec"),
        (["build", "good.yaml", "more/other.yaml", "-o", "x.py"], "takes one spec"),
        (["build", "good.yaml", "-o", "good.yaml"], "will not overwrite"),
        (["build", "good.yaml", "-o", "good.yaml/x"], "good.yaml/x"),
        (["build", "good.yaml", "--frce"], "--frce"),
        (["biuld"], "biuld"),
        (["check", "good.yaml", "-o", "-"], "makes no sense"),
        (["verify"], "SPEC"),
        (["verify", "good.yaml", "--format", "xml"], "xml"),
        (["verify", "good.yaml", "more/other.yaml", "--file", "x.py"], "takes one spec"),
        (["explain", "norm.esp"], "norm.eps"),
        (["explain", "missing.yaml"], "missing.yaml"),
        (["init", "class"], "keyword"),
        (["init", "../up"], "path"),
        (["init", "two words"], "two words"),
        (["init", "tiny", "pre-nrom"], "pre-norm"),
        (["init", "good"], "exists already"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_bad_command_line(specc, folder, arguments, named):
    (folder / "empty").mkdir()
    (folder / "more").mkdir()
    (folder / "good.yaml").write_text(GOOD)
    (folder / "more" / "twin.yaml").write_text(GOOD)
    (folder / "more" / "other.yaml").write_text(changed("name: tiny", "name: other"))
    before = sorted(folder.rglob("*"))
    result = specc(*arguments)
    assert result.code == 2
    assert named in result.err
    assert "Traceback" not in result.err
    assert sorted(folder.rglob("*")) == before
    assert (folder / "good.yaml").read_text() == GOOD


def test_errors_of_all_specs_are_shown_at_once(specc, folder):
    (folder / "a.yaml").write_text(changed("d_model", "d_modle"))
    (folder / "b.yaml").write_text(GOOD)
    (folder / "c.yaml").write_text(changed("n_layers: 2", "n_layers: on"))
    result = specc("build", ".", "-o", "out")
    assert result.code == 2
    assert "a.yaml:" in result.err
    assert "c.yaml:" in result.err
    assert "2 of 3 specs do not compile" in result.err
    assert not (folder / "out").exists()


def test_an_endless_file_is_not_read_to_its_end(specc):
    result = specc("build", "/dev/zero", "-o", "out")
    assert result.code == 2
    assert "too many" in result.err


def test_a_title_stays_text(specc, folder):
    title = r"""It's "{{ 7 * 7 }}" {%raw%} \N{BULLET} \\ ''' \"\"\" # ü"""
    spec = changed("name: tiny", f"name: tiny\ntitle: '{title.replace(chr(39), chr(39) * 2)}'")
    (folder / "good.yaml").write_text(
        spec + 'paper: {title: "a\\nb\'\'\'\\"\\"\\" {{x}}"}\n', encoding="utf-8"
    )
    assert specc("build", "good.yaml").code == 0
    text = (folder / "tiny.py").read_text(encoding="utf-8")
    namespace: dict[str, object] = {}
    exec(compile(text, "tiny.py", "exec"), namespace)
    docstring = " ".join(str(namespace["__doc__"]).split())
    assert title in docstring
    assert "{{x}}" in docstring.replace(" ", "")
