"""A bug planted in a template is found by the random specs, and shrunk to a spec that can be read
at a glance.
"""

from collections import Counter

import pytest

from specc.verify.random_specs.campaign import run_batch
from specc.verify.random_specs.trial import Verdict, try_unformatted
from tests.random.planted import PLANTED, planted

MOST_LINES = 12
SEED = 5  # of a batch that meets both bugs early; any other finds them, too


@pytest.mark.parametrize("bug", PLANTED.values(), ids=PLANTED)
def test_a_planted_bug_is_found_and_shrunk(bug):
    with planted(*bug):
        failure = run_batch(200, SEED, try_unformatted, Counter())
        assert failure is not None
        assert failure.outcome.verdict is Verdict.DISAGREES
        assert failure.text.count("\n") <= MOST_LINES, failure.text
    assert try_unformatted(failure.text).verdict is Verdict.AGREES
