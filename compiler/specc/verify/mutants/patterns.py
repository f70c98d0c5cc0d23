"""Finds a piece of Python in a file by its syntax tree and puts another in its place.

In a pattern a name that starts with an underscore stands for any expression, the same one at each
mention; the replacement may name it again. Comments do not survive: a mutant is run, not read.
"""

from __future__ import annotations

import ast
from copy import deepcopy


def replaced(text: str, pattern: str, replacement: str) -> str | None:
    """The text with every place that the pattern fits replaced; None where there is none."""
    swap = _Swap(_parsed(pattern), _parsed(replacement))
    tree = swap.visit(ast.parse(text))
    return ast.unparse(ast.fix_missing_locations(tree)) if swap.count else None


def _parsed(code: str) -> ast.AST:
    """An expression, or one statement."""
    (statement,) = ast.parse(code).body
    return statement.value if isinstance(statement, ast.Expr) else statement


class _Swap(ast.NodeTransformer):
    def __init__(self, pattern: ast.AST, replacement: ast.AST) -> None:
        self.pattern = pattern
        self.replacement = replacement
        self.count = 0

    def visit(self, node: ast.AST) -> ast.AST:
        """Replace the outermost fits; look inside everything else."""
        found: dict[str, ast.AST] = {}
        if not _fits(self.pattern, node, found):
            return super().generic_visit(node)
        self.count += 1
        return _filled(self.replacement, found)


def _fits(pattern: object, node: object, found: dict[str, ast.AST]) -> bool:
    if isinstance(pattern, ast.Name) and pattern.id.startswith("_") and isinstance(node, ast.expr):
        known = found.setdefault(pattern.id, node)
        return ast.dump(known) == ast.dump(node)
    if isinstance(pattern, ast.expr_context):
        return True
    if isinstance(pattern, list) and isinstance(node, list):
        pairs = zip(pattern, node, strict=False)
        return len(pattern) == len(node) and all(_fits(a, b, found) for a, b in pairs)
    if isinstance(pattern, ast.AST) and isinstance(node, ast.AST):
        return type(pattern) is type(node) and all(
            _fits(value, vars(node).get(name), found) for name, value in ast.iter_fields(pattern)
        )
    return pattern == node


def _filled(replacement: ast.AST, found: dict[str, ast.AST]) -> ast.AST:
    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.AST:  # ast's own name
            return deepcopy(found.get(node.id, node))

    result: ast.AST = Fill().visit(deepcopy(replacement))
    return result
