import pytest

from tests.outside.lowering import LOWERING, noticed
from tests.outside.numbers import ask

CASES = [(mutant, question) for mutant in LOWERING for question in mutant.missed]


@pytest.mark.parametrize(("mutant", "question"), CASES, ids=[f"{m.name}-{q}" for m, q in CASES])
def test_a_number_from_outside_notices(mutant, question):
    assert noticed(mutant, question) is not None


@pytest.mark.parametrize("question", sorted({question for _, question in CASES}))
def test_the_right_lowering_misses_no_number(question):
    ask(question)
