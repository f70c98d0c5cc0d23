"""Tidying keeps the program, and doing it twice changes nothing."""

import ast
from textwrap import dedent

import pytest

from specc.rewrite import tidy
from specc.rewrite.prune_imports import prune_imports, unused_imports

CASES = {
    "nothing to do": ("import math\n\nx = math.pi\n", "import math\n\nx = math.pi\n"),
    "a whole statement": (
        "import math\nimport os\n\nx = math.pi\n",
        "import math\n\nx = math.pi\n",
    ),
    "one of several names": ("from a import b, c, d\n\nb(d)\n", "from a import b, d\n\nb(d)\n"),
    "the last of several names": ("from a import b, c\n\nb()\n", "from a import b\n\nb()\n"),
    "an alias": ("import a.b as f\nimport a.c as g\n\ng()\n", "import a.c as g\n\ng()\n"),
    "a dotted import binds its root": ("import a.b\n\na.b.c()\n", "import a.b\n\na.b.c()\n"),
    "brackets": (
        "from a import (\n    b,\n    c,\n)\n\nb()\n",
        "from a import (\n    b,\n)\n\nb()\n",
    ),
    "future": ("from __future__ import annotations\n", "from __future__ import annotations\n"),
    "a string annotation": (
        "from a import B, C\n\n\ndef f(x: 'list[B]') -> 'C': ...\n",
        "from a import B, C\n\n\ndef f(x: 'list[B]') -> 'C': ...\n",
    ),
    "a docstring does not count": ('"""About os."""\n\nimport os\n', '"""About os."""\n'),
    "exported": ("from a import b\n\n__all__ = ['b']\n", "from a import b\n\n__all__ = ['b']\n"),
    "a star": ("from a import *\nimport os\n", "from a import *\n"),
    "inside a function": ("def f():\n    import os\n", "def f():\n    import os\n"),
}


@pytest.mark.parametrize(("before", "after"), CASES.values(), ids=CASES)
def test_prune_imports(before, after):
    assert prune_imports(before) == after


@pytest.mark.parametrize("text", [before for before, _ in CASES.values()], ids=CASES)
def test_tidying_twice_changes_nothing(text):
    assert tidy(tidy(text)) == tidy(text)


def test_the_program_stays_the_same():
    text = dedent("""
        import torch
        import os
        def f( x,y ) :
            # a comment stays
            return {'a':x , "b" : (y)}  # shape [B, T]


        class A:


            '''Doc.'''
            z = 10_000.
        """)
    before = ast.parse(text)
    before.body = [s for s in before.body if not isinstance(s, ast.Import)]
    after = tidy(text)
    assert ast.dump(ast.parse(after)) == ast.dump(before)
    assert "# a comment stays" in after
    assert "# shape [B, T]" in after


def test_the_mode_is_ours_whatever_lies_around(tmp_path, monkeypatch):
    (tmp_path / "pyproject.toml").write_text(
        "[tool.black]\nline-length = 20\nskip-string-normalization = true\n"
    )
    monkeypatch.chdir(tmp_path)
    assert (
        tidy("x = ['aaaaaaaaaaaa', 'bbbbbbbbbbbbbb']\n")
        == 'x = ["aaaaaaaaaaaa", "bbbbbbbbbbbbbb"]\n'
    )


def test_what_is_no_python_is_a_syntax_error():
    with pytest.raises(SyntaxError):
        tidy("def f(:\n")


def test_only_bound_names_are_unused():
    assert unused_imports("import a, b.c as d\nfrom e import f as g\n\na\n") == {"d", "g"}
