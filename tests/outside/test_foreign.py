import pytest

from tests.outside.foreign import FOREIGN, foreign_gap


@pytest.mark.parametrize("name", FOREIGN)
def test_the_generated_file_and_transformers_agree(name):
    assert foreign_gap(name) < FOREIGN[name].limit
