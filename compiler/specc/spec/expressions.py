"""Arithmetic over sizes: `4 * d_model`, `d_model // n_heads`. Integers, + - * // / and
parentheses, nothing else. Python's parser reads the text, and only the few node types below are
looked at, so nothing can be called, read or made to explode. What a name is worth is the caller's
to say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from specc.diagnostics import did_you_mean, listed

LONGEST = 200
LARGEST = 2**63

SIZES = (
    "vocab_size",
    "d_model",
    "n_layers",
    "max_seq_len",
    "n_heads",
    "n_kv_heads",
    "head_dim",
    "d_ff",
)


_GLUED = re.compile(r"(?<![\w.])[0-9][0-9_]*[A-Za-z]")
_GRAMMAR = "only + - * // / and ( ) over sizes and whole numbers"
_SYMBOLS: dict[type, str] = {ast.Pow: "**", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>"}


class ExpressionError(ValueError):
    """An expression that has no value; `hint` may say what was meant."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def evaluate(text: str, value_of: Callable[[str], int]) -> int:
    """The value of an arithmetic text. Raises ExpressionError; `value_of` may too."""
    if len(text) > LONGEST:
        raise ExpressionError(f"an expression of {len(text)} characters is too long")
    if _GLUED.search(text):
        raise ExpressionError(f"'{text}' is not arithmetic", "write * between a number and a name")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ExpressionError(
            f"'{text}' is neither a whole number nor arithmetic over sizes"
        ) from None
    return _value(tree.body, value_of)


def _value(node: ast.expr, value_of: Callable[[str], int]) -> int:
    match node:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            return _bounded(number)
        case ast.Constant(value=float()):
            raise ExpressionError("sizes are whole numbers", "write 1000, not 1e3")
        case ast.Name(id=name):
            if name not in SIZES:
                hint = did_you_mean(name, SIZES) or f"known sizes: {listed(SIZES, 'and')}"
                raise ExpressionError(f"'{name}' is no size", hint)
            return value_of(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, value_of)
        case ast.BinOp(left=left, op=operator, right=right):
            return _binary(operator, _value(left, value_of), _value(right, value_of))
        case _:
            raise ExpressionError(
                f"{_named(node)} in an expression",
                _GRAMMAR,
            )


def _binary(operator: ast.operator, left: int, right: int) -> int:
    match operator:
        case ast.Add():
            return _bounded(left + right)
        case ast.Sub():
            return _bounded(left - right)
        case ast.Mult():
            return _bounded(left * right)
        case ast.FloorDiv() | ast.Div() if right == 0:
            raise ExpressionError("division by zero")
        case ast.FloorDiv():
            return left // right
        case ast.Div():
            if left % right:
                raise ExpressionError(f"{left} / {right} is not whole", "write // to round down")
            return left // right
        case _:
            name = _SYMBOLS.get(type(operator), type(operator).__name__)
            raise ExpressionError(f"the operator {name} in an expression", _GRAMMAR)


def _bounded(number: int) -> int:
    if abs(number) > LARGEST:
        raise ExpressionError("a value beyond 2^63")
    return number


def _named(node: ast.expr) -> str:
    match node:
        case ast.Call():
            return "a call"
        case ast.Attribute():
            return "an attribute"
        case ast.Constant():
            return "a text"
        case _:
            return f"'{type(node).__name__}'"
