"""Whatever stands in a text of a spec stays text: the program is the same as with a plain word."""

from __future__ import annotations

import ast

import pytest

from specc.spec import shapes
from tests.unit.test_dead_fields import BASES, LEAVES, Leaf, base, edited, standing, text_of

NASTY = (
    'a"b',
    "a'b",
    'a"""\nimport os\n"""b',
    "a\nraise SystemExit\n",
    "a\\",
    "a\\N{BULLET}\\x00",
    "a{b}{{ c }}{% d %}{# e #}",
    "# a",
    "a\r\nb",
    "\u2028raise SystemExit",
    "a\tb",
    "é ü 漢",
)
TEXTS = [leaf for leaf in LEAVES if isinstance(leaf.shape, shapes.Text | shapes.Anything)]


def skeleton(text: str) -> str:
    """The program without what its strings say."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            node.value = ""
    return ast.dump(tree)


def written(leaf: Leaf, value: str) -> str | None:
    """The file of the first spec that says something there, with the value in its place."""
    name = next((each for each in BASES if standing(each, leaf) is not None), "gpt2")
    return text_of(edited(base(name, leaf.path[0] == "ledger"), leaf, value))


@pytest.mark.parametrize("leaf", TEXTS, ids=lambda leaf: leaf.name)
def test_text_stays_text(leaf):
    if leaf.plain in ("style", "ledger.*.choice"):
        assert all(written(leaf, value) is None for value in NASTY)  # words of the language only
        return
    plain = written(leaf, "plain")
    assert plain is not None
    for value in NASTY:
        text = written(leaf, value)
        assert text is None or skeleton(text) == skeleton(plain), value


def test_every_text_of_the_language_is_tried():
    assert {"title", "paper.title", "paper.url", "ledger.*.quote"} <= {leaf.plain for leaf in TEXTS}
