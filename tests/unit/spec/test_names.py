"""Names that may reach code, and the methods of torch that they must not hide."""

import pytest
from torch import nn

from specc.spec.names import MODULE_NAMES, camel, one_line, snake, why_not, why_not_text

KEYWORDS = ["class", "None"]
PATHS = ["../x", "/tmp/x", ".x", "a/b"]
MODULES = ["torch", "typing", "print"]
NO_IDENTIFIERS = ["a b", "a-b", "1a", "_a", "é", "", "a.b", "a\nb", "x" * 61, "Tiny"]


@pytest.mark.parametrize("word", [*KEYWORDS, *PATHS, *MODULES, *NO_IDENTIFIERS])
def test_file_names_that_are_refused(word):
    assert why_not(word, "file") is not None


@pytest.mark.parametrize("word", ["tiny", "vaswani_base", "x1", "match"])
def test_file_names(word):
    assert why_not(word, "file") is None


def test_class_names():
    assert why_not("TinyModel", "class") is None
    assert all(
        why_not(word, "class") for word in ("tiny", "Tiny_Model", "1T", "True", "ValueError")
    )


def test_a_type_may_be_called_global():
    assert why_not("global", "type") is None
    assert why_not("Global", "type") is not None


@pytest.mark.parametrize("word", ["forward", "train", "type", "half", "count", "index", "for"])
def test_outputs_do_not_hide_methods(word):
    assert why_not(word, "output") is not None


def test_every_public_name_of_a_module_is_known():
    # transformers, when another test has imported it, hangs methods of its own on nn.Module
    foreign = {
        name
        for name, value in vars(nn.Module).items()
        if getattr(value, "__module__", "").startswith("transformers")
    }
    live = {name for name in dir(nn.Module()) if not name.startswith("_")} - foreign
    assert live <= MODULE_NAMES


def test_spellings():
    assert camel("vaswani_base") == "VaswaniBase"
    assert snake("VaswaniBase") == "vaswani_base"
    assert one_line(" a\r\n  b\tc ") == "a b c"
    assert why_not_text("fine: é 日本") is None
    assert why_not_text("\x00") is not None
    assert why_not_text("\u202e") is not None
    assert why_not_text(" \n ") is not None
