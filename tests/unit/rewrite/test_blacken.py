"""Formatting piece by piece gives the bytes of formatting the whole."""

from pathlib import Path

import pytest
from black import format_str

from specc.pipeline import read_model
from specc.render import render
from specc.rewrite.blacken import MODE, blacken

ROOT = Path(__file__).parents[3]
SPECS = sorted([*(ROOT / "specs").glob("*.yaml"), *(ROOT / "tests" / "specs").glob("*.yaml")])

TEXTS = {
    "nothing": "",
    "a comment": "# alone\n",
    "one line": "x=1\n",
    "a gap in a docstring": '"""One.\n\n\ndef f is no function."""\nx=1\n\n\ndef f():\n    pass\n',
    "gaps in strings": 'x = """\n\n\nclass A:\n"""\n\n\ndef f( ):\n    return """\n\n\n@b\n"""\n',
    "a comment before a function": "def f( ):\n    pass\n\n\n# about g\ndef g( ):\n    pass\n",
    "a comment apart": "def f( ):\n    pass\n\n\n# apart\n\n\ndef g( ):\n    pass\n",
    "constants between": "import a\n\n\nX=1\n\n\n\nY=2\n\n\ndef f( ):\n    pass\n\n\nZ=(3)\n",
    "decorators": "@a\n\n\ndef f( ):\n    pass\n\n\n@b\n@c\nclass A :\n    x=1\n",
    "too few blank lines": "def f( ):\n    pass\ndef g( ):\n    pass\n\nclass A :\n    x=1\n",
    "too many blank lines": "\n\n\n\ndef f( ):\n    pass\n\n\n\n\n\nclass A :\n    x=1\n\n\n\n",
    "formatting off": "# fmt: off\nx=(1)\n\n\ndef f( ):\n    pass\n\n\n# fmt: on\ny=(1)\n",
    "a line skipped": "def f( ):\n    pass\n\n\ndef g( ): return 1  # fmt: skip\n",
    "nested": "if x:\n    y=1\n\n\n    def f( ):\n        pass\n\n\ndef g( ):\n    pass\n",
    "stubs": "@overload\ndef f(): ...\n\n\n@overload\ndef f(x): ...\n\n\ndef f(x): pass\n",
    "methods": (
        "class A :\n    '''Doc.'''\n    x=1\n    def f( self ): pass\n\n\n    @b\n\n"
        "    def g( self):\n        y=1\n\n        def h( ): pass\n\n"
        "    # about i\n    def i(self ): return (1)\n\n    z=2\n\n"
        "    class B :\n        pass\n\n    def j( self): pass\n"
    ),
    "a class without a body": "class A(B): ...\n\n\n@c\nclass D : pass\n\n    # inside\n",
    "a gap in a method's string": (
        "class A :\n    def f( self ):\n        x=1\n        return '''\n\n    def g( )'''\n"
    ),
    "a doc, then a method": (
        "class A :\n\n\n    '''Doc.'''\n\n    def f( self ):\n\n"
        "        ''' Doc. '''\n        pass\n"
    ),
    "methods without bodies": (
        "class A( Protocol ):\n    def f( self ): ...\n    def g( self ): ...\n\n"
        "    def h( self ): ...\n"
    ),
    "a function's own functions": (
        "def f( ):\n    x=1\n\n    def g( ):\n        pass\n\n    @a\n    def h( ): pass\n"
    ),
    "a conditional method": (
        "class A :\n    if x:\n        def f( self ): pass\n\n    def g( self ): pass\n"
    ),
    "if and else": "if x:\n    pass\n\n\nelse:\n    pass\n\n\ndef f( ):\n    pass\n",
    "brackets": "x = (\n\n\n1)\n\n\ndef f(\n\n\nx): pass\n",
    "a backslash": "x = \\\n\n\n\ndef f( ):\n    pass\n",
}


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_every_spec(spec):
    text = render(read_model(spec))
    assert blacken(text) == format_str(text, mode=MODE)


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_shape_of_text(text):
    try:
        wanted = format_str(text, mode=MODE)
    except ValueError:
        with pytest.raises(SyntaxError):
            blacken(text)
    else:
        assert blacken(text) == wanted
