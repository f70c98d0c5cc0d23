"""A config of the test data, imported, and its file beside that of the committed spec."""

from __future__ import annotations

import ast
import difflib
import re
from functools import cache
from pathlib import Path

from specc.importers import import_config
from specc.ir.model import Model
from specc.pipeline import compile_spec, read_model

ROOT = Path(__file__).parents[2]
CONFIGS = Path(__file__).parent / "configs"
NAMES = tuple(sorted(path.stem for path in CONFIGS.glob("*.json")))


@cache
def imported(name: str) -> str:
    """The text of the spec that a config of the test data becomes."""
    path = CONFIGS / f"{name}.json"
    return import_config(path.read_bytes(), path.name, name).text


def model(name: str) -> Model:
    return read_model(text=imported(name))


def under_the_class_of(text: str, committed: str) -> str:
    """The imported spec under the title and the class of the committed one."""
    for key in ("title", "class"):
        text = re.sub(rf"^{key}: .*\n", "", text, flags=re.MULTILINE)
    said = re.findall(r"^(?:title|class): .*\n", committed, re.MULTILINE)
    return text.replace("\nsource: ", "\n" + "".join(said) + "source: ")


def code(text: str) -> str:
    """A file without comments and docstrings: what Python runs, laid out one way."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:] or [ast.Pass()]
    return ast.unparse(tree)


def difference(name: str, changes: dict[str, str]) -> str:
    """The diff from the committed spec's code to the imported one's, after some changes to the
    imported text; empty when they are one.
    """
    text = imported(name)
    for before, after in changes.items():
        assert text.count(before) == 1
        text = text.replace(before, after)
    committed = (ROOT / "specs" / f"{name}.yaml").read_text(encoding="utf-8")
    ours = code((ROOT / "generated" / f"{name}.py").read_text(encoding="utf-8"))
    theirs = code(compile_spec(text=under_the_class_of(text, committed)).text)
    lines = difflib.unified_diff(ours.split("\n"), theirs.split("\n"), "specs", "imported", n=1)
    return "\n".join(lines)
