"""64 tokens of three texts, padded left, equal a loop over golden; all specs in tests/prove."""

import pytest

from tests.prove.generation import against_golden


@pytest.mark.parametrize("name", ["vaswani_base", "gemma_3_1b"])
def test_greedy_decoding_equals_a_loop_over_golden(name):
    row = against_golden(name)
    assert row.passed, row.evidence
