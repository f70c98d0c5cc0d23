import pytest

from specc.verify import ALL, Report, Status, verify_text
from tests.unit.verify.broken import ALSO, BROKEN, Broken
from tests.unit.verify.files import compiled, edited


def report_on(broken: Broken, text: str) -> Report:
    return verify_text(compiled(broken.spec).model, text, broken.spec, only=[broken.check])


def test_every_check_has_a_broken_file():
    assert [broken.check for broken in BROKEN] == [check.name for check in ALL]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda b: b.check)
def test_a_check_catches_its_broken_file(broken):
    text = edited(compiled(broken.spec).artifact.text, broken.old, broken.new)
    if broken.check in ALSO:
        text = edited(text, *ALSO[broken.check])
    (result,) = report_on(broken, text).checks
    assert result.status is Status.FAIL
    assert broken.says in result.evidence
    assert "\n" not in result.evidence


@pytest.mark.parametrize("broken", BROKEN, ids=lambda b: b.check)
def test_a_check_passes_the_right_file(broken):
    (result,) = report_on(broken, compiled(broken.spec).artifact.text).checks
    assert result.status is Status.PASS, result.evidence


def test_every_check_says_what_it_proves():
    assert all(len(check.proves) > 20 for check in ALL)
