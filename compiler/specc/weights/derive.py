"""The operations between one layout's published tensors and one model's, from data alone.

An entry of the layout applies to every parameter that its own pattern names; what is left of the
model's parameters must be a constant of the layout, or the layout does not fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from specc.ir.exhaustive import assert_never
from specc.ir.heads import FeaturesHead
from specc.ir.layers import NormWeight
from specc.ir.model import Model
from specc.weights.layout import Entry, Layout
from specc.weights.operations import Drop, Fill, Move, Operation, Tie
from specc.weights.patterns import fill, holes, match
from specc.weights.pieces import Heads, Piece, Pieces, pieces
from specc.weights.problems import WeightsError
from specc.weights.steps import (
    Arrangement,
    CutRows,
    Join,
    Named,
    Offset,
    Shape,
    Split,
    Stack,
    Step,
    Transpose,
    inverses,
    shapes_after,
)

__all__ = ["WeightsError", "operations"]

MOST_BEYOND = 4  # layers that a checkpoint may hold beyond the model's own
NUMBERED = ("expert", "head")  # holes of a published tensor for each expert or head


@dataclass(frozen=True)
class Part:
    """What one entry says of one place: published names, and pieces of ours."""

    theirs: tuple[str, ...]
    ours: tuple[Piece, ...]
    steps: tuple[Step, ...]


def operations(model: Model, layout: Layout) -> tuple[Operation, ...]:
    """How every parameter of the model is stored by the layout.

    Raises WeightsError where the layout says nothing, or twice, of a parameter.
    """
    known = pieces(model)
    parts = [part for entry in layout.entries for part in _parts(entry, layout, known)]
    fills = list(_fills(layout, known, parts))
    _refuse_gaps(layout, known, parts, fills)
    moves = [_bare(move, model, layout) for move in _moves(known, parts)]
    ties = list(_ties(layout, moves))
    return (*moves, *ties, *fills, *_drops(model, layout))


def _parts(entry: Entry, layout: Layout, known: Pieces) -> Iterator[Part]:
    """The entry at every place where the model has what it speaks of."""
    for path in known.by_path:
        values = match(entry.ours[0], path)
        if values is None:
            continue
        paths = [fill(each, values) for each in entry.ours]
        missing = [each for each in paths if each not in known.by_path]
        if missing:
            raise WeightsError(
                [f"{path}: layout {layout.name} stores it with {missing[0]}, which is not there"]
            )
        ours = tuple(known.by_path[each] for each in paths)
        theirs = fill(entry.theirs, values)
        numbered = [hole for hole in holes(theirs) if hole in NUMBERED]
        names = [theirs]
        if numbered:
            count = ours[0].named.shape[0]
            names = [fill(theirs, {numbered[0]: str(i)}) for i in range(count)]
        steps = tuple(_steps(entry, layout, ours, len(names) if numbered else 0))
        yield Part(tuple(names), ours, steps)


def _steps(entry: Entry, layout: Layout, ours: Sequence[Piece], stacked: int) -> Iterator[Step]:
    if stacked:
        yield Stack(0, stacked)
    first = ours[0]
    if entry.transposed and len(first.named.shape) > 1:
        yield Transpose(0)
    if len(ours) > 1:
        yield _split(entry.fused or Arrangement.BLOCKS, ours)
    for at, piece in enumerate(ours):
        if piece.turn is not None and piece.turn.to_half != (layout.pairs is layout.pairs.HALF):
            yield replace(piece.turn, at=at)
        if piece.gain is not None and layout.gains not in (None, piece.gain):
            yield Offset(at, 1.0 if layout.gains is NormWeight.ONE_PLUS else -1.0)
        if piece.offset is not None and piece.offset < layout.offset:
            yield CutRows(at, layout.offset - piece.offset)


def _split(arrangement: Arrangement, ours: Sequence[Piece]) -> Split:
    """Sizes follow from our shapes; only how often they repeat is the arrangement's."""
    axis = 1 if ours[0].stacks_experts else 0
    rows = [piece.named.shape[axis] for piece in ours]
    times = _times(arrangement, ours[0].heads, min(rows))
    if any(count % times for count in rows):
        raise WeightsError(
            [f"{ours[0].named.name}: {rows} rows are not {times} times {arrangement.value}"]
        )
    return Split(0, axis, times, tuple(count // times for count in rows), arrangement)


def _times(arrangement: Arrangement, heads: Heads | None, rows: int) -> int:
    match arrangement:
        case Arrangement.BLOCKS:
            return 1
        case Arrangement.INTERLEAVED:
            return rows
        case Arrangement.PER_HEAD | Arrangement.PER_GROUP:
            if heads is None:
                raise WeightsError([f"only attention is stored {arrangement.value}"])
            return heads.queries if arrangement is Arrangement.PER_HEAD else heads.keys
        case _:
            assert_never(arrangement)


def _fills(layout: Layout, known: Pieces, parts: Sequence[Part]) -> Iterator[Fill]:
    stored = {piece.named.name for part in parts for piece in part.ours}
    for path, piece in known.by_path.items():
        for constant in layout.constants if path not in stored else ():
            if match(constant.ours, path) is not None:
                yield Fill(piece.named, constant.value)
                break


def _refuse_gaps(
    layout: Layout, known: Pieces, parts: Sequence[Part], fills: Sequence[Fill]
) -> None:
    covered = [piece.named.name for part in parts for piece in part.ours]
    covered += [each.ours.name for each in fills]
    problems = [
        f"{path}: layout {layout.name} does not say how it is stored"
        for path in known.by_path
        if path not in covered
    ]
    problems += [f"{path}: layout {layout.name} stores it twice" for path in _twice(covered)]
    theirs = [name for part in parts for name in part.theirs]
    problems += [f"{name}: layout {layout.name} reads it twice" for name in _twice(theirs)]
    if problems:
        raise WeightsError(problems)


def _twice(names: Sequence[str]) -> list[str]:
    """The names that stand more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


def _moves(known: Pieces, parts: Sequence[Part]) -> Iterator[Move]:
    """Parts whose pieces share a tensor of ours are one move."""
    whole = {path: named for named, paths in known.fused.items() for path in paths}
    waiting: dict[Named, list[Part]] = {}
    for part in parts:
        owners = {whole[p.named.name] for p in part.ours if p.named.name in whole}
        if not owners:
            yield _move(part, tuple(piece.named for piece in part.ours), part.steps)
        for owner in owners:
            waiting.setdefault(owner, []).append(part)
    for owner, several in waiting.items():
        yield _joined(owner, known.fused[owner], known, several)


def _joined(owner: Named, paths: Sequence[str], known: Pieces, several: Sequence[Part]) -> Move:
    """Pieces that we keep in one tensor: brought into its order, then joined."""
    ordered = sorted(several, key=lambda part: paths.index(part.ours[0].named.name))
    found = [piece.named.name for part in ordered for piece in part.ours]
    if found != list(paths):
        raise WeightsError([f"{owner.name}: cannot be made of {', '.join(found)} in this order"])
    steps: list[Step] = []
    done = 0
    for part in ordered:
        steps += [replace(step, at=step.at + done) for step in part.steps]
        done += len(part.ours)
    sizes = tuple(known.by_path[path].named.shape[0] for path in paths)
    last = steps[-1] if steps else None
    if isinstance(last, Split) and (last.axis, last.times, last.sizes) == (0, 1, sizes):
        steps.pop()  # stored as we keep it
    else:
        steps.append(Join(0, 0, 1, sizes))
    theirs = tuple(name for part in ordered for name in part.theirs)
    return _move(Part(theirs, (), ()), (owner,), tuple(steps))


def _move(part: Part, ours: tuple[Named, ...], steps: tuple[Step, ...]) -> Move:
    """With the published shapes, which follow from ours."""
    shapes: tuple[Shape, ...] = shapes_after(inverses(steps), [named.shape for named in ours])
    theirs = tuple(Named(name, shape) for name, shape in zip(part.theirs, shapes, strict=True))
    return Move(theirs, ours, steps)


def _bare(move: Move, model: Model, layout: Layout) -> Move:
    """The move without the prefix that models without heads are published without."""
    if any(not isinstance(head, FeaturesHead) for head in model.heads):
        return move
    theirs = tuple(
        replace(named, name=named.name.removeprefix(layout.bare)) for named in move.theirs
    )
    return replace(move, theirs=theirs)


def _drops(model: Model, layout: Layout) -> Iterator[Drop]:
    """Patterns of layers beyond the model's own become names of those that may follow."""
    layers = len(model.stacks[-1].layers)
    for each in layout.dropped:
        beyond = range(layers, layers + MOST_BEYOND) if "beyond" in holes(each.theirs) else (0,)
        for layer in beyond:
            yield Drop(fill(each.theirs, {"beyond": str(layer)}), each.because)


def _ties(layout: Layout, moves: Sequence[Move]) -> Iterator[Tie]:
    published = {named.name for move in moves for named in move.theirs}
    source = {move.ours[0].name: move.theirs[0].name for move in moves if len(move.theirs) == 1}
    for copy in layout.copies:
        if copy.theirs not in published and copy.ours in source:
            yield Tie(copy.theirs, source[copy.ours])
