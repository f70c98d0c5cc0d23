"""Only the command line prints or exits."""

import ast

import pytest

from tests.architecture.rooms import Module, modules

CALLS = {"print", "exit", "quit", "input", "breakpoint"}
ATTRIBUTES = {
    ("sys", "exit"),
    ("sys", "stdout"),
    ("sys", "stderr"),
    ("os", "_exit"),
    ("os", "abort"),
}


def noise(tree: ast.AST) -> list[str]:
    found = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in CALLS:
                found.append(name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name) if (owner, name) in ATTRIBUTES:
                found.append(f"{owner}.{name}")
            case ast.Name(id="SystemExit"):
                found.append("SystemExit")
            case _:
                continue
    return found


def is_command_line(module: Module) -> bool:
    return module.room == "cli" or module.path.name == "__main__.py"


@pytest.mark.parametrize(
    "module", [m for m in modules() if not is_command_line(m)], ids=lambda m: m.id
)
def test_a_room_is_silent(module):
    assert noise(module.tree) == []


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.id)
def test_user_errors_are_no_asserts(module):
    assert [n.lineno for n in ast.walk(module.tree) if isinstance(n, ast.Assert)] == []


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.id)
def test_no_attribute_is_guessed(module):
    guesses = [
        node.lineno
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
        and len(node.args) == 3
    ]
    assert guesses == []
