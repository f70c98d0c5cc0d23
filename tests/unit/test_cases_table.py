"""docs/cases.md names only what exists: checks, mutants, tests, folders and files."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from specc.verify import ALL
from specc.verify.mutants import CODE_MUTANTS, MUTANTS
from tests.outside.lowering import LOWERING

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "cases.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (C\d+) \| (.+) \| (.+) \|$", TEXT, re.MULTILINE)
REFERENCES = sorted({name for row in ROWS for name in re.findall(r"`([^`]+)`", row[2])})

NAMES = {
    "check": {check.name for check in ALL},
    "mutant": {m.name for found in MUTANTS.values() for m in found}
    | {m.name for m in CODE_MUTANTS},
    "lowering": {mutant.name for mutant in LOWERING},
}
MISTAKEN = ("C34", "C62", "C93", "C114", "C121", "C124")


@cache
def found_in(file: Path) -> frozenset[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    found = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return frozenset(node.name for node in found if node.name.startswith("test_"))


@pytest.mark.parametrize("name", REFERENCES)
def test_it_exists(name):
    kind, _, rest = name.partition(":")
    if kind in NAMES:
        assert rest in NAMES[kind]
        return
    file, _, test = name.partition("::")
    path = ROOT / file
    assert path.exists()
    if file.startswith("tests/cases/"):
        assert (path / "expected_error.txt").is_file()
    elif test:
        assert test in found_in(path)


def test_every_case_has_a_row_and_something_that_catches_it():
    assert len(ROWS) == len({case for case, _, _ in ROWS}) == 131
    for _, _, catches in ROWS:
        assert "`" in catches or catches.startswith("later: ")


def test_mistaken_reports_have_negative_tests():
    rows = {case: (what, catches) for case, what, catches in ROWS}
    assert {case for case, (what, _) in rows.items() if "Mistaken report" in what} == set(MISTAKEN)
    assert all("::test_" in rows[case][1] for case in MISTAKEN)
