"""Any letter of any shape comment of a generated file, replaced by another, fails the check.

Of all generated files under `make prove`.
"""

import re
from itertools import islice

import pytest

from specc.verify.shapes import examine
from specc.verify.shapes.flips import flips
from tests.unit.verify.files import CHEAP
from tests.unit.verify.shapes.files import SPECS, generated, observed

# Files of every kind that run fast: each edit runs the whole file again.
EDITED = ("bert_base", "gemma_2_2b", "gpt2", "minicpm3_4b", "set_attention_l2", "vaswani_base")
BRACKET = re.compile(r"\[[A-Z0-9][A-Za-z0-9_*+/, ]*\]")

covering_spec = pytest.mark.parametrize(
    "spec", [spec for spec in SPECS if spec.stem in CHEAP], ids=lambda spec: spec.stem
)
edited_spec = pytest.mark.parametrize(
    "spec", [spec for spec in SPECS if spec.stem in EDITED], ids=lambda spec: spec.stem
)
each_spec = pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)


@each_spec
def test_the_comments_are_true(spec):
    assert [str(lie) for lie in observed(spec).lies] == []


@covering_spec
def test_every_flip_is_caught(spec):
    found = list(flips(observed(spec)))
    assert len(found) > 300
    assert [flip for flip in found if not flip.is_caught] == []


@each_spec
def test_no_comment_is_overlooked(spec):
    """A count by regular expression alone: the letters in brackets, in comments and docstrings."""
    text = generated(spec)
    body = text[text.index("class Config") :]
    spoken = re.findall(r"[^\s#].*?  # (.*)", body) + re.findall(r'"""(.*?)"""', body, re.DOTALL)
    brackets = [bracket for words in spoken for bracket in BRACKET.findall(words)]
    letters = sum(len(re.findall(r"\b[A-Z]\b", bracket)) for bracket in brackets)
    watched = [place.statement.text for place in observed(spec).survey.places]
    assert letters == sum(len(re.findall(r"\b[A-Z]\b", statement)) for statement in watched)


@edited_spec
def test_a_flip_in_the_file_itself_is_caught(spec):
    """Some flips again, as edits of the text and with runs of their own."""
    text = generated(spec)
    lines = text.split("\n")
    tried = [flip for flip in flips(observed(spec)) if f"  # {flip.before}" in lines[flip.line - 1]]
    for flip in islice(tried, 7, None, max(1, len(tried) // 3)):
        edited = list(lines)
        edited[flip.line - 1] = lines[flip.line - 1].replace(
            f"  # {flip.before}", f"  # {flip.after}"
        )
        assert examine("\n".join(edited)).lies, flip
