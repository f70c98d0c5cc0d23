"""Names with holes: matching one against a name, and filling one in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

HOLES = {
    "layer": r"\d+",
    "beyond": r"\d+",
    "expert": r"\d+",
    "head": r"\d+",
    "kind": "weight|bias",
    "any": ".*",
}
_HOLE = re.compile(r"{(\w+)}")


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Holes as named groups; a hole that stands twice must hold the same. ValueError: no hole."""
    parts, end, seen = [], 0, set()
    for hole in _HOLE.finditer(pattern):
        name = hole[1]
        if name not in HOLES:
            raise ValueError(f"{pattern}: there is no hole {{{name}}}")
        parts.append(re.escape(pattern[end : hole.start()]))
        parts.append(f"(?P={name})" if name in seen else f"(?P<{name}>{HOLES[name]})")
        seen.add(name)
        end = hole.end()
    return re.compile("".join(parts) + re.escape(pattern[end:]))


def holes(pattern: str) -> tuple[str, ...]:
    """The names of a pattern's holes."""
    return tuple(hole[1] for hole in _HOLE.finditer(pattern))


def match(pattern: str, name: str) -> dict[str, str] | None:
    """What fills the holes, or None where the name is another one."""
    found = _compiled(pattern).fullmatch(name)
    return None if found is None else found.groupdict()


def fill(pattern: str, values: Mapping[str, str]) -> str:
    """The name with these holes filled; others stay."""
    return _HOLE.sub(lambda hole: values.get(hole[1], hole[0]), pattern)
