"""A new family costs no Python: models in no list build and are verified like any other."""

import pytest

from specc.pipeline import compile_fully
from specc.verify import ALL, COMPILING, verify_text
from tests.unit.verify.files import SPECS

INVENTED = sorted((SPECS.parent / "tests" / "specs").glob("*.yaml"))
QUICK = [check.name for check in ALL if check.name not in COMPILING]


@pytest.mark.parametrize("checks", [QUICK, COMPILING], ids=["quick", "compiling"])
@pytest.mark.parametrize("spec", INVENTED, ids=lambda p: p.stem)
def test_an_invented_model_is_verified(spec, checks):
    compilation = compile_fully(spec)
    report = verify_text(compilation.model, compilation.artifact.text, spec.stem, only=checks)
    assert report.passed, report.failures


def test_there_are_two():
    assert [spec.stem for spec in INVENTED] == ["heron", "heron_of_three"]
