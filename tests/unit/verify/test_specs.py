import pytest

from specc.verify import ALL, COMPILING, verify, verify_text
from tests.unit.verify.files import CHEAP, SPECS, compiled

QUICK = [check.name for check in ALL if check.name not in COMPILING]


@pytest.mark.parametrize("spec", sorted(SPECS.glob("*.yaml")), ids=lambda p: p.stem)
def test_every_spec_is_verified(spec):
    report = verify_text(*_parts(spec.stem), only=QUICK)
    assert report.passed, report.failures


@pytest.mark.parametrize("name", CHEAP)
def test_it_compiles_and_exports(name):
    report = verify_text(*_parts(name), only=COMPILING)
    assert report.passed, report.failures


def _parts(name):
    compilation = compiled(name)
    return compilation.model, compilation.artifact.text, name


def test_a_file_on_disk_is_checked_in_place_of_a_fresh_build(tmp_path):
    file = tmp_path / "gpt2.py"
    text = compiled("gpt2").artifact.text
    file.write_text(text.replace("eps=config.norm_eps", "eps=0.1"), encoding="utf-8")
    report = verify(SPECS / "gpt2.yaml", file, only=["forward_float64"])
    assert not report.passed
    assert not (tmp_path / "__pycache__").exists()
