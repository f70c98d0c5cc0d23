"""A new family costs no Python: models in no list build and are verified like any other."""

import pytest

from specc.pipeline import compile_fully
from specc.verify import ALL, COMPILING, verify_text
from tests.specs import spec_path

QUICK = [check.name for check in ALL if check.name not in COMPILING]


@pytest.mark.parametrize("checks", [QUICK, COMPILING], ids=["quick", "compiling"])
@pytest.mark.parametrize("name", ["heron", "heron_of_three"])
def test_an_invented_model_is_verified(name, checks):
    compilation = compile_fully(spec_path(name))
    report = verify_text(compilation.model, compilation.artifact.text, name, only=checks)
    assert report.passed, report.failures
