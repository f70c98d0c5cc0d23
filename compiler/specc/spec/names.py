"""Which words may become names in a generated file or the name of that file, and which text may
stay text. A spec is data: what reaches code as a name must be an identifier that hides nothing,
and the rest reaches it through `repr` or a comment only. Each check gives the reason against a
word, or None.
"""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from typing import Literal

LONGEST_NAME = 60
LONGEST_TEXT = 2000

# What `nn.Module`, NamedTuple and the generated models define: a submodule or output of that name
# would be stored, but hidden behind the method.
# fmt: off
MODULE_NAMES = frozenset((
    "T_destination", "add_module", "apply", "bfloat16", "buffers", "call_super_init",
    "children", "compile", "cpu", "cuda", "double", "dump_patches", "eval", "extra_repr",
    "float", "forward", "get_buffer", "get_extra_state", "get_parameter", "get_submodule",
    "half", "ipu", "load_state_dict", "modules", "mtia", "named_buffers", "named_children",
    "named_modules", "named_parameters", "parameters", "register_backward_hook",
    "register_buffer", "register_forward_hook", "register_forward_pre_hook",
    "register_full_backward_hook", "register_full_backward_pre_hook",
    "register_load_state_dict_post_hook", "register_load_state_dict_pre_hook",
    "register_module", "register_parameter", "register_state_dict_post_hook",
    "register_state_dict_pre_hook", "requires_grad_", "set_extra_state", "set_submodule",
    "share_memory", "state_dict", "to", "to_empty", "train", "training", "type", "xpu",
    "zero_grad", "count", "index", "reset_parameters", "new_cache", "encode", "decode",
))
# fmt: on
_THIRD_PARTY = frozenset({"torch", "numpy", "specc", "typing_extensions"})

Role = Literal["file", "class", "type", "output"]


def why_not(word: str, role: Role) -> str | None:
    """The reason why that word cannot be a name of that kind, or None when it can."""
    common = _not_an_identifier(word)
    if common is not None:
        return common
    match role:
        case "file":
            return _not_python(word) or _not_a_file(word)
        case "class":
            return _not_python(word) or _not_a_class(word)
        case "output":
            return _not_python(word) or _not_an_output(word)
        case "type":
            return _not_lower(word)  # part of names only: `rope_theta_global`, `GlobalBlock`


def _not_an_identifier(word: str) -> str | None:
    if any(mark in word for mark in "/\\") or word.startswith("."):
        return "it is a path; where files go is `-o`'s to say"
    if not word.isascii() or not word.isidentifier():
        return "letters, digits and _ only, and no digit first"
    if word.startswith("_"):
        return "names that begin with _ are Python's"
    if len(word) > LONGEST_NAME:
        return f"at most {LONGEST_NAME} characters"
    return None


def _not_python(word: str) -> str | None:
    if keyword.iskeyword(word):
        return "it is a Python keyword"
    if word in dir(builtins):
        return "it is a Python builtin"
    return None


def _not_lower(word: str) -> str | None:
    return f"write it in lower case: '{snake(word)}'" if word != word.lower() else None


def _not_a_file(word: str) -> str | None:
    if word in sys.stdlib_module_names or word in _THIRD_PARTY:
        return f"a file {word}.py would hide the module '{word}'"
    return _not_lower(word)


def _not_a_class(word: str) -> str | None:
    if not word[0].isupper() or "_" in word:
        return f"class names are CamelCase: '{camel(word)}'"
    return None


def _not_an_output(word: str) -> str | None:
    if word in MODULE_NAMES:
        return "a method or field of nn.Module or NamedTuple has that name and would hide it"
    return _not_lower(word)


def camel(name: str) -> str:
    """`vaswani_base` -> `VaswaniBase`."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def snake(name: str) -> str:
    """`VaswaniBase` -> `vaswani_base`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


_BREAKS = re.compile(r"[ ]*[\n\r\t\x85\u2028\u2029]+[ ]*")
# Controls, and marks that turn the direction of text round.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff\ud800-\udfff]"
)


def one_line(text: str) -> str:
    """The text with line ends and tabs as one space, and none at its ends."""
    return _BREAKS.sub(" ", text).strip()


def why_not_text(text: str) -> str | None:
    """The reason why a text cannot be shown in a comment or docstring, or None when it can."""
    found = _HIDDEN.search(text)
    if found is not None:
        return f"the character U+{ord(found[0]):04X} cannot be shown"
    if len(text) > LONGEST_TEXT:
        return f"{len(text):,} characters are too many: at most {LONGEST_TEXT:,}"
    if not one_line(text):
        return "it is empty"
    return None
