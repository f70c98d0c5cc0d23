"""What the tests of this folder read: the compiler's modules as syntax trees, and the table of
doors between rooms.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "compiler" / "specc"
TEMPLATES = ROOT / "templates"


@dataclass(frozen=True)
class Door:
    """What one room may import: other rooms, and packages beside the standard library."""

    rooms: frozenset[str]
    packages: frozenset[str]


def door(rooms: str = "", packages: str = "") -> Door:
    return Door(frozenset(rooms.split()), frozenset(packages.split()))


COMPILING = "spec lower ir weights render rewrite artifact diagnostics project"
EVERYTHING = COMPILING + " emit weights importers golden pipeline loading convert verify"

DOORS = {
    "diagnostics": door(),
    "artifact": door(),
    "project": door(packages="tomli"),
    "spec": door("diagnostics", "ruamel pydantic pydantic_core"),
    "ir": door(),
    "lower": door("diagnostics spec ir"),
    "render": door("ir weights", "jinja2"),
    "rewrite": door(packages="libcst black"),
    "emit": door("artifact diagnostics"),
    "weights": door("ir"),
    "importers": door("diagnostics spec ir weights"),
    "golden": door("ir", "torch"),
    "pipeline": door(COMPILING),
    "loading": door("pipeline ir artifact"),
    "convert": door("ir weights importers diagnostics", "safetensors torch"),
    "verify": door(
        COMPILING + " pipeline weights importers convert golden",
        "torch libcst transformers hypothesis pytest",
    ),
    "cli": door(EVERYTHING, "typer rich torch"),
    "__init__": door("artifact diagnostics pipeline loading"),
    "pytest_plugin": door("project verify", "pytest"),
    "__main__": door("cli"),
}


@dataclass(frozen=True)
class Module:
    """One file of the compiler."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        inside = self.path.relative_to(PACKAGE)
        return inside.parts[0].removesuffix(".py")

    @property
    def id(self) -> str:
        return self.path.relative_to(PACKAGE).as_posix()


@cache
def modules() -> tuple[Module, ...]:
    files = sorted(PACKAGE.rglob("*.py"))
    texts = [(file, file.read_text(encoding="utf-8")) for file in files]
    return tuple(Module(file, text, ast.parse(text)) for file, text in texts)


def imports(tree: ast.AST) -> Iterator[str]:
    """Every imported module's dotted name, also inside functions."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module="specc", names=names):
                yield from (f"specc.{alias.name}" for alias in names)
            case ast.ImportFrom(module=str(name)):
                yield name
            case _:
                continue


def is_standard(package: str) -> bool:
    return package in sys.stdlib_module_names


def docstrings(tree: ast.AST) -> set[int]:
    """The ids of the constants that are docstrings."""
    return {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
