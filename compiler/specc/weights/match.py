"""Tensors that a file holds against those that operations ask for: names, spellings, shapes.

Nothing is left over in silence: a tensor is used, repeats another, or is dropped for a reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from specc.weights.layout import Layout
from specc.weights.operations import Drop, Fill, Move, Operation, Tie
from specc.weights.patterns import match
from specc.weights.problems import WeightsError, nearest
from specc.weights.steps import Named, Shape


@dataclass(frozen=True)
class Matched:
    """How a checkpoint's file spells the names that operations use, and what it holds beside."""

    spelt: dict[str, str]
    dropped: tuple[tuple[str, str], ...]  # name in the file, why it is left out


def match_published(
    operations: Sequence[Operation], layout: Layout, found: Mapping[str, Shape]
) -> Matched:
    """Find the published tensors among these. Raises WeightsError for missing, unknown or
    wrongly shaped ones.
    """
    wanted = {named.name: named for op in operations if isinstance(op, Move) for named in op.theirs}
    copies = {op.theirs: op.of for op in operations if isinstance(op, Tie)}
    drops = [op for op in operations if isinstance(op, Drop)]
    spelt: dict[str, str] = {}
    dropped: list[tuple[str, str]] = []
    problems: list[str] = []
    unknown: list[str] = []
    for name in found:
        readings = tuple(_readings(layout, name))
        known = next((each for each in readings if each in wanted or each in copies), None)
        reason = next((r for each in readings if (r := _reason(drops, each)) is not None), None)
        if known is not None and known in spelt:
            problems.append(f"{name}: the same tensor as {spelt[known]}")
        elif known is not None:
            spelt[known] = name
        elif reason is not None:
            dropped.append((name, reason))
        else:
            unknown.append(name)
    problems += _unlike(spelt, wanted, copies, found)
    problems += _missing([name for name in wanted if name not in spelt], unknown)
    problems += [
        f"{name}: the model has no use for it"
        f"{nearest(name, [each for each in wanted if each not in spelt] or list(wanted))}"
        for name in unknown
    ]
    if problems:
        raise WeightsError(problems)
    return Matched(spelt, tuple(dropped))


def match_ours(operations: Sequence[Operation], found: Mapping[str, Shape]) -> None:
    """Hold a `state_dict` of ours against the operations. Raises WeightsError as above."""
    wanted = {named.name: named for op in operations for named in _ours(op)}
    unknown = [name for name in found if name not in wanted]
    here = {name: name for name in found if name in wanted}
    problems = [*_unlike(here, wanted, {}, found)]
    problems += _missing([name for name in wanted if name not in found], unknown)
    problems += [
        f"{name}: the model has no such parameter{nearest(name, list(wanted))}" for name in unknown
    ]
    if problems:
        raise WeightsError(problems)


def _ours(operation: Operation) -> tuple[Named, ...]:
    match operation:
        case Move():
            return operation.ours
        case Fill():
            return (operation.ours,)
        case _:
            return ()


def _readings(layout: Layout, name: str) -> Iterator[str]:
    """What a file's name may mean, its own spelling first."""
    spellings = [name]
    for each in layout.spellings:
        spellings += [spelling.replace(each.old, each.new) for spelling in spellings]
    for spelling in dict.fromkeys(spellings):
        yield spelling
        for prefix in layout.prefixes:
            if spelling.startswith(prefix):
                yield spelling.removeprefix(prefix)
            else:
                yield prefix + spelling


def _reason(drops: Sequence[Drop], name: str) -> str | None:
    return next((drop.because for drop in drops if match(drop.pattern, name) is not None), None)


def _unlike(
    spelt: Mapping[str, str],
    wanted: Mapping[str, Named],
    copies: Mapping[str, str],
    found: Mapping[str, Shape],
) -> Iterator[str]:
    for name, spelling in spelt.items():
        shape = wanted[copies.get(name, name)].shape
        if tuple(found[spelling]) != shape:
            yield f"{spelling}: shape {tuple(found[spelling])}, and the model needs {shape}"


def _missing(names: Sequence[str], unknown: Sequence[str]) -> Iterator[str]:
    for name in names:
        yield f"{name}: missing{nearest(name, unknown)}"
