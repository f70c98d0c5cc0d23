"""Finds a piece of Python in a file by its syntax tree and puts another in its place.

In a pattern a name that starts with an underscore stands for any expression, the same one at each
mention; the replacement may name it again. All else stays as it is, comments too: a mutant's shape
comments are still true or are not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from typing import cast

import libcst as cst

Found = dict[str, cst.CSTNode]
Places = dict[type, tuple[tuple[cst.CSTNode, ...], ...]]

# What only tells how a piece is laid out, beside fields whose name starts with "whitespace".
LAYOUT = frozenset(["comma", "equal", "lbracket", "rbracket", "lpar", "rpar", "semicolon"])
ATOMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.Integer,
    cst.Float,
    cst.SimpleString,
    cst.List,
    cst.Dict,
)


def replaced(text: str, pattern: str, replacement: str) -> str | None:
    """The text with every place that the pattern fits replaced; None where there is none."""
    module, places = _parsed_file(text)
    wanted = _parsed(pattern)
    swap = _Swap()
    for way in places.get(type(wanted), ()):
        found: Found = {}
        if not swap.is_inside(way) and _fits(wanted, way[-1], found):
            swap.add(way, _filled(_parsed(replacement), found))
    return swap.edited(module) if swap.pieces else None


@lru_cache(maxsize=4)
def _parsed_file(text: str) -> tuple[cst.Module, Places]:
    """The tree, and where nodes of each type are: the way from the top down to each."""
    module = cst.parse_module(text)
    places: dict[type, list[tuple[cst.CSTNode, ...]]] = defaultdict(list)
    for way in _ways((module,)):
        places[type(way[-1])].append(way)
    return module, {kind: tuple(ways) for kind, ways in places.items()}


def _ways(way: tuple[cst.CSTNode, ...]) -> Iterator[tuple[cst.CSTNode, ...]]:
    yield way
    for child in way[-1].children:
        if not isinstance(child, cst.BaseParenthesizableWhitespace | cst.TrailingWhitespace):
            yield from _ways((*way, child))


@cache
def _parsed(code: str) -> cst.CSTNode:
    """An expression, or one small statement."""
    (line,) = cst.parse_module(code).body
    if not isinstance(line, cst.SimpleStatementLine):
        raise ValueError(f"{code!r} is no expression and no small statement")
    (statement,) = line.body
    return statement.value if isinstance(statement, cst.Expr) else statement


class _Swap(cst.CSTTransformer):
    """Puts pieces in the place of nodes, going down only where there are some."""

    def __init__(self) -> None:
        super().__init__()
        self.pieces: dict[cst.CSTNode, cst.CSTNode] = {}  # nodes are equal only to themselves
        self.above: set[cst.CSTNode] = set()

    def is_inside(self, way: Sequence[cst.CSTNode]) -> bool:
        """Whether a node on the way is replaced already."""
        return any(node in self.pieces for node in way)

    def add(self, way: Sequence[cst.CSTNode], piece: cst.CSTNode) -> None:
        """Plan one replacement."""
        self.pieces[way[-1]] = piece
        self.above.update(way[:-1])

    def edited(self, module: cst.Module) -> str:
        """The text after all replacements."""
        return module.visit(self).code

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node in self.above

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        piece = self.pieces.get(original_node)
        if piece is None:
            return updated_node
        piece = _enclosed(piece) if isinstance(piece, cst.BaseExpression) else piece
        return cast("cst.CSTNodeT", piece)  # libcst promises more than a transformer can


def _fits(pattern: object, node: object, found: Found) -> bool:
    if isinstance(pattern, cst.Name) and _is_any(pattern) and isinstance(node, cst.BaseExpression):
        known = found.setdefault(pattern.value, node)
        return known is node or _fits(known, node, {})
    if isinstance(pattern, Sequence) and not isinstance(pattern, str):
        return (
            isinstance(node, Sequence)
            and len(pattern) == len(node)
            and all(_fits(a, b, found) for a, b in zip(pattern, node, strict=True))
        )
    if isinstance(pattern, cst.CSTNode):
        return type(pattern) is type(node) and all(
            _fits(getattr(pattern, name), getattr(node, name), found)
            for name in _told(type(pattern))
        )
    return pattern == node


def _is_any(name: cst.Name) -> bool:
    return name.value.startswith("_") and len(name.value) > 1


@cache
def _told(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """The fields of a node that say what it means."""
    names = (field.name for field in fields(kind))
    return tuple(n for n in names if n not in LAYOUT and not n.startswith("whitespace"))


def _filled(replacement: cst.CSTNode, found: Found) -> cst.CSTNode:
    class Fill(cst.CSTTransformer):
        def leave_Name(  # libcst's own name  # noqa: N802
            self, original_node: cst.Name, updated_node: cst.Name
        ) -> cst.BaseExpression:
            known = found.get(original_node.value)
            return _enclosed(known) if isinstance(known, cst.BaseExpression) else updated_node

    filled = replacement.visit(Fill())
    if not isinstance(filled, cst.CSTNode):
        raise TypeError("a piece cannot vanish")
    return filled.deep_clone()


def _enclosed(piece: cst.BaseExpression) -> cst.BaseExpression:
    """In parentheses unless it needs none anywhere."""
    if isinstance(piece, ATOMS) or piece.lpar:
        return piece
    return piece.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
