"""The same specs give the same bytes, whatever the hash seed, the folder or the time; and
generated/ holds them.
"""

import os
import subprocess
import sys

import pytest

from tests.architecture.rooms import ROOT

SPECS = ROOT / "specs"
GENERATED = ROOT / "generated"


@pytest.mark.parametrize("seed", ["0", "1"])
def test_generated_is_what_the_specs_say(seed, tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "compiler"), "PYTHONHASHSEED": seed}
    command = [sys.executable, "-m", "specc", "build", str(SPECS), "-o", "out"]
    subprocess.run(command, check=True, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL)
    built = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir()}
    kept = {file.name: file.read_bytes() for file in GENERATED.glob("*.py")}
    assert built == kept


def test_every_spec_has_its_file():
    assert {spec.stem for spec in SPECS.glob("*.yaml")} == {
        file.stem for file in GENERATED.glob("*.py")
    }


@pytest.mark.parametrize("file", sorted(GENERATED.glob("*.py")), ids=lambda file: file.stem)
def test_lines_fit_a_stranger_s_editor(file):
    """All but the first, which holds a path, and the words that cannot be broken (an address)."""
    _, *lines = file.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 88 and " " in line.strip()] == []
