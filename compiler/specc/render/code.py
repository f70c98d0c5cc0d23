"""IR numbers and foreign text as Python source: `config.d_ff`, `151_936`, `1e-6`, comment lines,
docstrings.

Everything that a spec's author wrote as free text passes through here before it reaches a file.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from specc.ir.sizes import Number, Size, Width

COMMENT_WIDTH = 76
LINE_WIDTH = 88


@dataclass(frozen=True)
class Scope:
    """How code at one place names the numbers of the IR: as arguments, or through `config`."""

    config: str = "config"
    arguments: frozenset[str] = frozenset()

    def number(self, number: Number) -> str:
        """`config.d_ff`, or `d_ff` where that is an argument."""
        return number.name if number.name in self.arguments else f"{self.config}.{number.name}"

    def width(self, width: Width) -> str:
        """`config.n_heads * config.head_dim`."""
        return " + ".join(
            " * ".join(self.number(f) if isinstance(f, Size) else str(f) for f in term)
            for term in width.terms
        )


def literal(value: float | tuple[float, ...]) -> str:
    """A number as a person would type it: `151_936`, `1e-6`, `500_000.0`; or a tuple of them."""
    if isinstance(value, tuple):
        return f"({', '.join(literal(each) for each in value)},)"
    if isinstance(value, int):
        return f"{value:_}" if abs(value) >= 10_000 else str(value)
    text = repr(value)
    mantissa, _, exponent = text.partition("e")
    if exponent:
        return f"{mantissa}e{int(exponent)}"
    return f"{value:_}" if value.is_integer() and value >= 10_000 else text


def comment(text: str) -> tuple[str, ...]:
    """Free text as comment lines without the `#`: printable, on one logical line, wrapped."""
    return tuple(textwrap.wrap(one_line(text), COMMENT_WIDTH)) or ("",)


def docstring(text: str) -> str:
    """Free text made safe between triple quotes: nothing in it ends the string or escapes."""
    return one_line(text).replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def moving(summary: str, move: str, indent: int = 4) -> tuple[str, ...]:
    """A docstring that says what becomes of shapes: on one line, or in a paragraph below."""
    short, width = f'"""{summary}: {move}."""', LINE_WIDTH - indent
    if len(short) <= width:
        return (short,)
    lines = [""]
    for part in re.split(r" (?=or |-> )", f"{move}."):
        longer = f"{lines[-1]} {part}".strip()
        lines[-1:] = [longer] if len(longer) <= width else [lines[-1], part]
    return (f'"""{summary}:', "", *lines, '"""')


def one_line(text: str) -> str:
    """The text on one line, every control code a space, so that no editor or parser sees one."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def camel(*words: str) -> str:
    """`camel("cross_attention")` is CrossAttention."""
    return "".join(part[:1].upper() + part[1:] for word in words for part in word.split("_"))
