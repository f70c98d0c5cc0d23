"""Where a key belongs that was written in the wrong mapping: `n_heads` at the top level belongs
under `attention`.
"""

from __future__ import annotations

from functools import cache

from specc.diagnostics import SpecPath, dotted
from specc.spec import shapes


@cache
def _homes() -> dict[str, tuple[str, ...]]:
    """Every field name of the language -> the paths at which it may stand."""
    found: dict[str, list[str]] = {}

    def visit(shape: shapes.Shape, path: SpecPath) -> None:
        if isinstance(shape, shapes.Items):
            visit(shape.item, path)
        elif isinstance(shape, shapes.Variants):
            visit(shape.any_kind, path)
        elif isinstance(shape, shapes.Record):
            for field in shape.fields:
                found.setdefault(field.name, []).append(dotted((*path, field.name)))
                if field.name not in ("encoder", "decoder", "layers", "ledger"):
                    visit(field.shape, (*path, field.name))

    visit(shapes.spec(), ())
    return {name: tuple(dict.fromkeys(paths)) for name, paths in found.items()}


def where_it_belongs(key: str, place: SpecPath) -> str | None:
    """A hint with the one or two places where that key may stand, or None."""
    homes = [path for path in _homes().get(key, ()) if path != dotted((*place, key))]
    if not homes or len(homes) > 3:
        return None
    return f"did you mean {' or '.join(homes[:2])}?"
