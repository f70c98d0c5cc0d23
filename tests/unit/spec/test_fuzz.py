"""Whatever is done to a spec, it loads or is refused: nothing else comes out."""

import re
from pathlib import Path
from random import Random

import pytest

from specc.diagnostics import SpecError
from specc.spec import load
from tests.unit.spec.specs import PAIR, SET, TINY

SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*.yaml"))
TEXTS = [TINY, PAIR, SET, *(spec.read_text(encoding="utf-8") for spec in SPECS)]
EXTRA = [
    "null",
    "true",
    "~",
    "1e-6",
    "[]",
    "{}",
    "-1",
    "0",
    "none",
    "4%",
    "d_model // 2",
    "'x'",
    "\t",
]
EXTRA += [
    "\n",
    "encoder",
    "layers",
    "{kind: rope}",
    "[a, b]",
    "&a 1",
    "*a",
    "<<",
    "!!x",
    "%",
    "|",
    "- ",
]


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_spec_loads_or_is_refused(seed):
    random = Random(seed)
    words = sorted({word for text in TEXTS for word in re.findall(r"[\w.]+|[^\w\s]", text)})
    for _ in range(100):
        tokens = re.findall(r"[\w.]+|\s+|[^\w\s]", random.choice(TEXTS)[:1500])
        for _ in range(random.randint(1, 4)):
            spot = random.randrange(len(tokens))
            tokens[spot] = random.choice([random.choice(words), random.choice(EXTRA), ""])
        assert outcome("".join(tokens))


def outcome(text: str) -> object:
    """What comes of a spec; whatever is no refusal is raised."""
    try:
        loaded = load(text, "spec.yaml")
    except SpecError as error:
        return str(error)
    return loaded.effective and (loaded.strict(), loaded.spec)
