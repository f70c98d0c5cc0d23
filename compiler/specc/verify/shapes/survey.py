"""Finds every shape comment of a file and makes a copy whose commented values pass a recorder.

Only the copy changes, and no line of it moves. A comment that begins like a shape but stands where
there is no value, or does not parse, is a lie already.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from specc.verify.shapes.grammar import (
    GrammarError,
    Statement,
    hides_shape,
    parse_comment,
    parse_docstring,
    starts_with_shape,
)
from specc.verify.shapes.legend import read_legend
from specc.verify.shapes.places import Kind, Lie, Place, Scope, Survey, by_line

RECORDER = "__specc_saw__"


def survey(text: str) -> Survey:
    """Read a file. Raises SyntaxError, also where only LibCST finds the text too new or too odd."""
    header = ast.get_docstring(ast.parse(text)) or ""
    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
    except cst.ParserSyntaxError as error:
        raise SyntaxError(error.message, ("", error.raw_line, None, None)) from error
    comments, lies = _comments(text)
    surveyor = _Surveyor(comments, lies)
    copy = wrapper.visit(surveyor)
    unwatched = "no value that can be watched stands on this line"
    lies += [
        Lie(line, statement.text, unwatched)
        for line, statement in comments.items()
        if line not in surveyor.used
    ]
    if not surveyor.count:
        lies.append(Lie(0, "", "there are no shape comments"))
    scopes = tuple(scope.closed() for scope in surveyor.scopes if scope.places)
    return Survey(copy.code, read_legend(header), scopes, tuple(sorted(lies, key=by_line)))


def _comments(text: str) -> tuple[dict[int, Statement], list[Lie]]:
    """Line -> shape comment behind code on it; and the comments that are no shapes but look so."""
    found: dict[int, Statement] = {}
    lies: list[Lie] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line, column = token.start
        if token.type != tokenize.COMMENT or not token.line[:column].strip():
            continue
        words = token.string.removeprefix("#").strip()
        if starts_with_shape(words):
            try:
                found[line] = parse_comment(words)
            except GrammarError as error:
                lies.append(Lie(line, words, f"it cannot be read: {error}"))
        elif hides_shape(words) and not _is_plain_field(token.line):
            lies.append(Lie(line, words, "a shape comment begins with its shape"))
    return found, lies


def _is_plain_field(line: str) -> bool:
    """`d_ff: int = 8  # words`: a number's line, whose comment may quote anything."""
    head = line.partition("=")[0].rstrip()
    return head.endswith((": int", ": float", ": bool", ": str"))


@dataclass
class _OpenScope:
    """A scope while its body is read."""

    name: str
    is_helper: bool = False
    parameters: tuple[str, ...] = ()
    tensors: tuple[str, ...] = ()
    returns: str = ""
    places: list[Place] = field(default_factory=list)

    def closed(self) -> Scope:
        places = tuple(self.places)
        return Scope(self.name, self.is_helper, self.parameters, self.tensors, places)


class _Surveyor(cst.CSTTransformer):
    """Collects scopes and wraps values. A nested function belongs to the one around it."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self, comments: dict[int, Statement], lies: list[Lie]) -> None:
        super().__init__()
        self.comments = comments
        self.lies = lies
        self.used: set[int] = set()
        self.scopes: list[_OpenScope] = []
        self.classes: list[_OpenScope] = []
        self.functions: list[_OpenScope] = []
        self.depth = 0  # of functions
        self.branches: list[bool] = []  # does the block end in `raise`
        self.count = 0

    def visit_ClassDef(self, node: cst.ClassDef) -> None:  # noqa: N802  # LibCST's name
        self.classes.append(self._opened(".".join([*self._outer(), node.name.value])))

    def leave_ClassDef(  # noqa: N802
        self, _original: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        self.classes.pop()
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:  # noqa: N802
        self.depth += 1
        if self.depth > 1:
            return
        scope = self._opened(".".join([*self._outer(), node.name.value]))
        self.functions.append(scope)
        parameters = [*node.params.posonly_params, *node.params.params, *node.params.kwonly_params]
        scope.is_helper = not self.classes
        scope.parameters = tuple(p.name.value for p in parameters)
        scope.tensors = tuple(p.name.value for p in parameters if "Tensor" in _type(p))
        scope.returns = _code(node.returns.annotation) if node.returns else ""
        self._signature(scope, parameters)
        self._docstring(scope, node)

    def leave_FunctionDef(  # noqa: N802
        self, _original: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self.depth -= 1
        if self.depth == 0:
            self.functions.pop()
        return updated_node

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:  # noqa: N802
        last = node.body[-1] if node.body else None
        self.branches.append(
            isinstance(last, cst.SimpleStatementLine) and isinstance(last.body[-1], cst.Raise)
        )

    def leave_IndentedBlock(  # noqa: N802
        self, _original: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        self.branches.pop()
        return updated_node

    def leave_SimpleStatementLine(  # noqa: N802
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine:
        line = self._last_line(original_node)
        if line not in self.comments or len(updated_node.body) != 1:
            return updated_node
        statement = self._watched(updated_node.body[0], line)
        return updated_node.with_changes(body=[statement])

    def _watched(self, statement: cst.BaseSmallStatement, line: int) -> cst.BaseSmallStatement:
        """The statement with its value recorded; unchanged where it has none."""
        if not self.functions:
            if isinstance(statement, cst.AnnAssign) and self.classes:
                optional = _may_lack(_code(statement.annotation.annotation))
                self._place(self.classes[-1], Kind.FIELD, line, _code(statement.target), optional)
            return statement
        scope = self.functions[-1]
        match statement:
            case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
                name, kind, optional = _code(target).strip("()"), Kind.VALUE, True
            case cst.AnnAssign(
                target=target, annotation=annotation, value=cst.BaseExpression() as value
            ):
                name, kind = _code(target), Kind.VALUE
                optional = _may_lack(_code(annotation.annotation))
            case cst.Return(value=cst.BaseExpression() as value):
                name, kind = "", Kind.RETURN
                optional = _may_lack(scope.returns)
            case _:
                return statement
        number = self._place(scope, kind, line, name, optional)
        return statement.with_changes(value=_recorded(number, value))

    def _signature(self, scope: _OpenScope, parameters: list[cst.Param]) -> None:
        lines = [self._last_line(parameter) for parameter in parameters]
        for parameter, line in zip(parameters, lines, strict=True):
            if line in self.comments and lines.count(line) == 1:
                annotation = _type(parameter)
                optional = _may_lack(annotation)
                self._place(scope, Kind.PARAMETER, line, parameter.name.value, optional)

    def _docstring(self, scope: _OpenScope, node: cst.FunctionDef) -> None:
        text = node.get_docstring(clean=True)
        if text is None:
            return
        line = self._first_line(node.body.body[0])
        try:
            move = parse_docstring(" ".join(text.split()))
        except GrammarError as error:
            self.lies.append(Lie(line, "the docstring", f"it cannot be read: {error}"))
            return
        if move is None:
            return
        if move.arguments is not None:
            self._add(scope, Kind.ARGUMENTS, line, "", move.arguments, is_optional=True)
        optional = _may_lack(scope.returns)
        self._add(scope, Kind.RESULT, line, "", move.result, is_optional=optional)

    def _place(self, scope: _OpenScope, kind: Kind, line: int, name: str, optional: bool) -> int:
        self.used.add(line)
        return self._add(scope, kind, line, name, self.comments[line], is_optional=optional)

    def _add(
        self,
        scope: _OpenScope,
        kind: Kind,
        line: int,
        name: str,
        statement: Statement,
        *,
        is_optional: bool,
    ) -> int:
        number = self.count
        self.count += 1
        in_error_branch = any(self.branches)
        scope.places.append(
            Place(number, kind, line, name, statement, is_optional, in_error_branch)
        )
        return number

    def _opened(self, name: str) -> _OpenScope:
        scope = _OpenScope(name)
        self.scopes.append(scope)
        return scope

    def _outer(self) -> Iterator[str]:
        if self.classes:
            yield self.classes[-1].name

    def _first_line(self, node: cst.CSTNode) -> int:
        return int(self.get_metadata(PositionProvider, node).start.line)

    def _last_line(self, node: cst.CSTNode) -> int:
        return int(self.get_metadata(PositionProvider, node).end.line)


def _recorded(number: int, value: cst.BaseExpression) -> cst.Call:
    """`saw(number, (value))`: the parentheses hold a bare tuple together."""
    held = value.with_changes(
        lpar=[cst.LeftParen(), *value.lpar], rpar=[*value.rpar, cst.RightParen()]
    )
    arguments = [cst.Arg(cst.Integer(str(number))), cst.Arg(held)]
    return cst.Call(cst.Name(RECORDER), arguments)


def _type(parameter: cst.Param) -> str:
    return _code(parameter.annotation.annotation) if parameter.annotation else ""


def _may_lack(annotation: str | None) -> bool:
    """Whether what has that type, or none, may hold no shape."""
    return not annotation or "None" in annotation or "slice" in annotation


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)
