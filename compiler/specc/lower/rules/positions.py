"""Rules on positions: what a block can use, what a stack shares, what a table needs."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics import Diagnostic, SpecPath
from specc.lower.embeddings import position_width
from specc.lower.rules.places import Place, Problem
from specc.spec import schema

_IN_ATTENTION = schema.Rope | schema.Alibi
_TABLES = schema.Sinusoidal | schema.Learned


def rule_position(place: Place) -> Iterator[Problem]:
    """Positions of attention need attention over the tokens themselves."""
    position, sublayers = place.layer.position, place.layer.block.sublayers
    if isinstance(position, schema.Alibi) and "cross_attention" in sublayers:
        yield Problem(
            ("position",),
            "alibi measures distances in one sequence: beside cross-attention it is not defined",
            "take rope, learned, sinusoidal or none",
        )
    elif isinstance(position, _IN_ATTENTION) and "attention" not in sublayers:
        yield Problem(
            ("position",),
            f"position {position.kind} works inside self-attention, and this block has none",
        )


def table_diagnostics(spec: schema.Spec) -> Iterator[Diagnostic]:
    """Tables added at the input: one for a stack, of a width its formula knows, with a length."""
    for stack in spec.stacks:
        yield from _one_table(spec, stack)
    kinds = {layer.position.kind for stack in spec.stacks for layer in stack.types.values()}
    needs_length = sorted(kinds - {"alibi", "none"})
    if needs_length and spec.max_seq_len is None:
        yield Diagnostic(
            ("max_seq_len",),
            f"max_seq_len is missing: position {needs_length[0]} has a table of that length",
        )
    yield from _frequency(spec)


def _one_table(spec: schema.Spec, stack: schema.Stack) -> Iterator[Diagnostic]:
    tables = {n: x.position for n, x in stack.types.items() if isinstance(x.position, _TABLES)}
    if not tables:
        return
    first, table = next(iter(tables.items()))
    prefix: SpecPath = (stack.name,) if len(spec.stacks) > 1 else ()
    for name, layer in stack.types.items():
        if layer.position != table:
            kinds = f"{name} has {layer.position.kind}, {first} has {table.kind}"
            yield Diagnostic(
                (*prefix, "layers", "types", name, "position"),
                f"a {table.kind} table is added before the first layer, so all layer types"
                f" must name the same one: {kinds}",
            )


def _frequency(spec: schema.Spec) -> Iterator[Diagnostic]:
    nodes = [layer.position for stack in spec.stacks for layer in stack.types.values()]
    halved = any(isinstance(n, schema.Sinusoidal) and n.frequency == "k/(half-1)" for n in nodes)
    name, width = position_width(spec)
    if halved and (width % 2 or width < 4):
        yield Diagnostic(
            ("position", "frequency"),
            f"k/(half-1) divides by half of {name} less one, so {name} {width}"
            " must be even and at least 4",
            "take frequency 2k/d, which any width has",
        )
