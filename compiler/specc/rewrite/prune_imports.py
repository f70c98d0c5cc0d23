"""Drops the module-level imports that nothing in the module uses.

Templates may import what some of their variants need. The question whether there is anything to
drop is put to the standard parser, which is quick; LibCST, which keeps comments and spacing, is
loaded only to drop it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from libcst import ImportAlias, Module, SimpleStatementLine


def prune_imports(text: str) -> str:
    """The module without its unused imports. Raises `SyntaxError` when it does not parse."""
    module = ast.parse(text)
    unused = _unused(module)
    if not unused:
        return text
    lines = text.split("\n")
    end = max(line.end_lineno or 0 for line in module.body if _is_import(line))
    head = _drop("\n".join(lines[:end]) + "\n", unused)  # LibCST reads no further than it must
    return head + "\n".join(lines[end:])


def unused_imports(text: str) -> frozenset[str]:
    """The names that module-level imports bind and nothing reads; `__future__` does not count."""
    return _unused(ast.parse(text))


def _unused(module: ast.Module) -> frozenset[str]:
    return frozenset(_bound(module.body)) - frozenset(_read(module))


def _is_import(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Import | ast.ImportFrom)


def _bound(statements: Iterable[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        match statement:
            case ast.ImportFrom(module="__future__"):
                continue
            case ast.Import(names=aliases):
                yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
            case ast.ImportFrom(names=aliases):
                yield from (alias.asname or alias.name for alias in aliases)
            case _:
                continue


def _read(tree: ast.AST) -> Iterator[str]:
    """Every name that is read, also inside annotations written as strings and `__all__`."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name):
                yield name
            case ast.arg(annotation=note) | ast.AnnAssign(annotation=note):
                yield from _quoted(note)
            case ast.FunctionDef(returns=note) | ast.AsyncFunctionDef(returns=note):
                yield from _quoted(note)
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                yield from ast.literal_eval(value)
            case _:
                continue


def _quoted(annotation: ast.expr | None) -> Iterator[str]:
    if annotation is None:
        return
    for node in ast.walk(annotation):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _read(ast.parse(node.value, mode="eval"))


def _drop(head: str, unused: frozenset[str]) -> str:
    """The part of a module that holds its imports, without those names."""
    import libcst

    def kept(line: SimpleStatementLine) -> SimpleStatementLine | None:
        """One line without the unused names, or None when nothing is left of it."""
        (statement,) = line.body
        if not isinstance(statement, libcst.Import | libcst.ImportFrom):
            return line
        if isinstance(statement.names, libcst.ImportStar):
            return line
        names = [alias for alias in statement.names if _name(alias) not in unused]
        if len(names) == len(statement.names):
            return line
        if not names:
            return None
        names[-1] = names[-1].with_changes(comma=statement.names[-1].comma)
        return line.with_changes(body=[statement.with_changes(names=names)])

    module: Module = libcst.parse_module(head)
    body = [
        kept(line) if _is_single(line) else line  # type: ignore[arg-type]  # what _is_single tells
        for line in module.body
    ]
    return module.with_changes(body=[line for line in body if line is not None]).code


def _is_single(line: object) -> bool:
    import libcst

    return isinstance(line, libcst.SimpleStatementLine) and len(line.body) == 1


def _name(alias: ImportAlias) -> str:
    """The name that one alias of an import statement binds."""
    bound = alias.evaluated_alias or alias.evaluated_name
    return bound.partition(".")[0]
