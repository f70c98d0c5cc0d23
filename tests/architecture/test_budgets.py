"""Sizes that keep every file readable in one sitting."""

import ast

import pytest

from tests.architecture.rooms import ROOT, TEMPLATES, modules

FILE_LINES = 400
FUNCTION_LINES = 40
TEMPLATE_LINES = 80

tests = sorted((ROOT / "tests").rglob("*.py"))
templates = sorted(TEMPLATES.rglob("*.jinja"))


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.id)
def test_a_file_fits(module):
    assert module.text.count("\n") <= FILE_LINES


@pytest.mark.parametrize("file", tests, ids=lambda f: f.relative_to(ROOT).as_posix())
def test_a_file_of_tests_fits(file):
    assert file.read_text(encoding="utf-8").count("\n") <= FILE_LINES


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.id)
def test_its_functions_fit(module):
    long = {
        node.name: node.end_lineno - node.lineno + 1
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno - node.lineno + 1 > FUNCTION_LINES
    }
    assert long == {}


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.id)
def test_it_says_what_it_is(module):
    assert ast.get_docstring(module.tree)


@pytest.mark.parametrize("template", templates, ids=lambda t: t.name)
def test_a_template_fits(template):
    assert template.read_text(encoding="utf-8").count("\n") <= TEMPLATE_LINES


def test_there_are_templates():
    assert templates
