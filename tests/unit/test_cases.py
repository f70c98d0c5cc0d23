"""Every folder of tests/cases with an expected_error.txt: its spec is refused in those words."""

from pathlib import Path

import pytest

from specc.diagnostics import SpecError
from specc.lower import lower
from specc.spec import load

CASES = Path(__file__).parents[1] / "cases"
BAD = sorted(path.parent for path in CASES.glob("*/expected_error.txt"))


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_a_bad_spec_is_refused_with_its_message(case):
    expected = (case / "expected_error.txt").read_text(encoding="utf-8")
    with pytest.raises(SpecError) as refusal:
        read((case / "spec.yaml").read_bytes())
    assert str(refusal.value) + "\n" == expected


def test_there_are_cases():
    assert len(BAD) > 50


def read(content: bytes) -> None:
    """Load and lower a spec as the pipeline does."""
    loaded = load(content, "spec.yaml")
    try:
        lower(loaded.spec)
    except SpecError as error:
        raise loaded.locate(error) from None
