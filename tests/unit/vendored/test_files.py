"""Every spec's test file passes on its model, stands alone, and reads well."""

import ast
import os
import subprocess
import sys

import pytest

from specc.pipeline import compile_fully
from specc.verify import quiet_torch
from specc.verify.vendored import vendor
from specc.verify.vendored.trial import first_failure
from tests.architecture.rooms import ROOT
from tests.specs import SMALL, spec_path

SPECS = sorted(spec.stem for spec in (ROOT / "specs").glob("*.yaml"))


def made(name):
    """(model's file, test file) of a spec."""
    compilation = compile_fully(ROOT / "specs" / f"{name}.yaml")
    return compilation.artifact, vendor(compilation)


def imported(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]


@pytest.mark.parametrize("name", SPECS)
def test_it_passes_on_its_own_model_and_is_short_and_stands_alone(name):
    model, test = made(name)
    with quiet_torch():
        assert first_failure(test.text, model.text, name) is None
    assert test.path == f"test_{name}.py"
    assert set(imported(test.text)) - sys.stdlib_module_names == {"torch", "pytest", name}
    lines = test.text.splitlines()
    assert len(lines) <= 500
    assert [line for line in lines[1:] if len(line) > 88] == []


def test_pytest_runs_it_without_specc(tmp_path):
    """Alone in a folder, with an empty PYTHONPATH, in the stricter import mode, fast."""
    model, test = made("gpt2")
    (tmp_path / model.path).write_text(model.text)
    (tmp_path / test.path).write_text(test.text)
    command = [sys.executable, "-m", "pytest", "-q", "--import-mode=importlib", "-p"]
    environment = {**os.environ, "PYTHONPATH": "", "OMP_NUM_THREADS": "1"}
    before = os.times().children_user
    done = subprocess.run(
        [*command, "no:cacheprovider", "--rootdir", tmp_path, tmp_path],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=environment,
    )
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert os.times().children_user - before < 10


def test_linters_accept_it(tmp_path):
    for name in ("tiny_transformer_lm", "bert_base", "vaswani_base", "set_attention_l2"):
        model, test = made(name)
        (tmp_path / model.path).write_text(model.text)
        (tmp_path / test.path).write_text(test.text)
    for name in SMALL:  # what no published spec has
        model = compile_fully(spec_path(name)).artifact
        (tmp_path / model.path).write_text(model.text)
    rules = "--isolated --target-version py310 --select E,F,I,UP,B,SIM,RET,C4,PIE --ignore E501"
    for command in (
        ["ruff", "check", "--no-cache", *rules.split(), "."],
        ["black", "--check", "--line-length", "88", "."],
        ["mypy", "--strict", "--no-warn-return-any", "--config-file=", "."],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, encoding="utf-8", cwd=tmp_path
        )
        assert done.returncode == 0, done.stdout + done.stderr
