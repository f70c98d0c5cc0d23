"""The core verbs never import torch, and `import specc` imports next to nothing."""

import json
import os
import subprocess
import sys

import pytest

from tests.architecture.rooms import ROOT

SPEC = ROOT / "specs" / "gpt2.yaml"
CONFIG = ROOT / "tests" / "importers" / "configs" / "gpt2.json"
SCRIPT = """
import json, sys
{action}
print(json.dumps(sorted({{name.partition(".")[0] for name in sys.modules}})), file=sys.stderr)
"""
VERB = "from specc.cli.guard import guarded; assert guarded({arguments!r}) == 0"


def packages_after(action: str, folder) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(action=action)],
        capture_output=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "compiler")},
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "arguments",
    [
        ["build", str(SPEC), "-o", "-"],
        ["build", str(SPEC), "-o", "out", "--strict"],
        ["check"],
        ["explain", str(SPEC)],
        ["explain", "norm.eps"],
        ["schema"],
        ["card", str(SPEC)],
        ["card", str(SPEC), "--format", "json"],
        ["init", "some_model"],
        ["import", str(CONFIG), "-o", "spec.yaml"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_core_verb_imports_no_torch(arguments, tmp_path):
    folder = ROOT if arguments == ["check"] else tmp_path
    heavy = {"torch", "numpy", "transformers", "hypothesis", "pytest"}
    assert packages_after(VERB.format(arguments=arguments), folder) & heavy == set()


def test_the_package_itself_imports_no_dependency(tmp_path):
    found = packages_after("import specc", tmp_path)
    assert (
        found & {"torch", "pydantic", "jinja2", "black", "libcst", "ruamel", "typer", "rich"}
        == set()
    )
