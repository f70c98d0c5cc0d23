"""`specc import` on files, folders and stdin; what it never overwrites; every bad config ends in
one clear message with its place, exit code 2, and no file.
"""

import io
import json
import os
import re
import sys
from pathlib import Path

import pytest

CONFIG = Path(__file__).parents[2] / "importers" / "configs" / "llama_3_2_1b.json"
GOOD = CONFIG.read_text(encoding="utf-8")


def changed(before: str, after: str) -> bytes:
    assert GOOD.count(before) == 1
    return GOOD.replace(before, after).encode()


def stdin(monkeypatch, data: bytes) -> None:
    stream = io.TextIOWrapper(io.BytesIO(data))
    monkeypatch.setattr(sys, "stdin", stream)


def test_a_file_to_stdout_builds(specc, folder):
    result = specc("import", CONFIG)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("# Imported from a config of model_type llama.\n")
    (folder / "spec.yaml").write_text(result.out, encoding="utf-8")
    assert specc("build", "spec.yaml", "--strict").code == 0
    assert (folder / "llama_3_2_1b.py").is_file()


def test_a_folder_gives_its_name_when_the_config_has_none(specc, folder):
    model = folder / "My-Model 2"
    model.mkdir()
    values = {k: v for k, v in json.loads(GOOD).items() if k != "_name_or_path"}
    (model / "config.json").write_text(json.dumps(values), encoding="utf-8")
    out = specc("import", "My-Model 2").out
    assert "\nname: my_model_2\n" in out
    assert "\nsource: {layout: llama}\n" in out
    assert specc("import", "My-Model 2", "-o", ".").out.startswith("wrote my_model_2.yaml\n")


def test_stdin(specc, monkeypatch):
    stdin(monkeypatch, GOOD.encode())
    assert specc("import", "-").out == specc("import", CONFIG).out


def test_a_name(specc):
    assert "\nname: mine\n" in specc("import", CONFIG, "--name", "mine").out
    for name in ("Mine", "class", "../mine", ""):
        result = specc("import", CONFIG, "--name", name)
        assert result.code == 2
        assert "cannot be called" in result.err


def test_it_overwrites_only_by_force(specc, folder):
    assert specc("import", CONFIG, "-o", "spec.yaml").code == 0
    assert specc("import", CONFIG, "-o", "spec.yaml").out == "as it was: spec.yaml\n"
    (folder / "spec.yaml").write_text("mine\n", encoding="utf-8")
    result = specc("import", CONFIG, "-o", "spec.yaml")
    assert result.code == 2
    assert "--force" in result.err
    assert (folder / "spec.yaml").read_text(encoding="utf-8") == "mine\n"
    assert specc("import", CONFIG, "-o", "spec.yaml", "--force").code == 0
    assert "llama" in (folder / "spec.yaml").read_text(encoding="utf-8")


def test_text_of_a_config_is_text(specc, folder):
    """Names that would break a YAML file, hide a module or climb out of a folder."""
    for odd in ("a: {b", "x/\u2028y", "../../../etc/os", "\ud800", "o/" + "n" * 500, "#!/%41"):
        name = json.dumps(odd)
        data = changed('"meta-llama/Llama-3.2-1B"', name)
        (folder / "config.json").write_bytes(data)
        result = specc("import", "config.json", "-o", "out")
        assert (result.code, result.err) == (0, "")
        assert specc("build", "out", "-o", "-").code == 0
        (folder / "out").unlink()


HEADS = '"num_attention_heads": 32'

# what it is: (the config, what the message must name, whether there is a line to point at)
BAD = {
    "unknown key": (changed('"mlp_bias"', '"mpl_bias"'), "did you mean 'mlp_bias'", True),
    "unknown key inside": (
        changed('"factor"', '"fractor": 1, "factor"'),
        "rope_parameters.fractor",
        True,
    ),
    "unsupported family": (changed('"llama"', '"qwen3_next"'), "gated DeltaNet", True),
    "misspelt family": (changed('"llama"', '"lama"'), "did you mean 'llama'", True),
    "family is a number": (changed('"llama"', "5"), "must be a word", True),
    "no family": (changed('"model_type": "llama",', ""), "no model_type", False),
    "cut off": (GOOD[:200].encode(), "not JSON", True),
    "not JSON": (b"vocab_size: 5\n", "not JSON", True),
    "a list": (b"[1, 2]", "a JSON object", True),
    "a word": (b'"llama"', "a JSON object", True),
    "empty": (b" \n", "empty", False),
    "bytes": (b"\x80\x02}q\x00.", "not UTF-8", False),
    "key twice": (changed(HEADS, f"{HEADS}, {HEADS}"), "said twice", True),
    "missing key": (changed(f"{HEADS},", ""), "no num_attention_heads", False),
    "null size": (changed(HEADS, '"num_attention_heads": null'), "a count", True),
    "text for a size": (changed(HEADS, '"num_attention_heads": "32"'), "a count", True),
    "zero": (changed(HEADS, '"num_attention_heads": 0'), "a count", True),
    "half a head": (changed(HEADS, '"num_attention_heads": 31.5'), "31.5", True),
    "true for a size": (changed(HEADS, '"num_attention_heads": true'), "true", True),
    "NaN": (changed("1e-05", "NaN"), "NaN is no number", True),
    "infinity": (changed("1e-05", "-Infinity"), "-Infinity is no number", True),
    "beyond floats": (changed("1e-05", "1e999"), "1e999 is no number", True),
    "negative eps": (changed("1e-05", "-1e-05"), "config.json: rms_norm_eps", False),
    "heads do not divide": (changed(HEADS, '"num_attention_heads": 30'), "30 heads", False),
    "too large": (changed("128256", "99999999999999999999"), "config.json: vocab_size", False),
    "another head": (changed("ForCausalLM", "ForTokenClassification"), "architectures", True),
    "huge": (GOOD.encode() + b" " * (1 << 22), "more than 4,194,304 bytes", False),
    "deep": (b'{"a": ' + b"[" * 50_000, "too deep", False),
    "long number": (b'{"a": ' + b"1" * 5000 + b"}", "too long", False),
}


@pytest.mark.parametrize(("data", "named", "has_line"), BAD.values(), ids=BAD)
def test_a_bad_config(specc, folder, data, named, has_line):
    (folder / "config.json").write_bytes(data)
    result = specc("import", "config.json", "-o", "spec.yaml")
    assert result.code == 2
    assert named in result.err
    assert result.out == ""
    assert "Traceback" not in result.err
    assert result.err.count(": error:") == 1
    assert bool(re.match(r"config\.json:\d+:\d+: error: ", result.err)) is has_line
    assert os.listdir(folder) == ["config.json"]


def test_all_that_is_wrong_is_shown_at_once(specc, folder):
    data = changed(HEADS, '"num_attention_heads": "many", "nonsense": 1, "more_nonsense": 2')
    (folder / "config.json").write_bytes(data)
    assert specc("import", "config.json").err.count(": error:") == 3


def test_bad_stdin_has_a_name_too(specc, monkeypatch):
    stdin(monkeypatch, b"{")
    assert specc("import", "-").err.startswith("<stdin>:1:2: error: not JSON")


@pytest.mark.parametrize("place", ["nothing.json", "empty", "locked.json"])
def test_no_config_there(specc, folder, place):
    (folder / "empty").mkdir()
    if place == "locked.json":
        (folder / place).symlink_to(folder / place)  # a loop: no file can be read there
    result = specc("import", place)
    assert result.code == 2
    assert "Traceback" not in result.err
    assert place in result.err


def test_no_folder_to_write_to(specc, folder):
    (folder / "file").write_text("", encoding="utf-8")
    result = specc("import", CONFIG, "-o", "file/spec.yaml")
    assert result.code == 2
    assert sorted(os.listdir(folder)) == ["file"]
