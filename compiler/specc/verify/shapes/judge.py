"""Holds the comments against what the runs showed, function by function.

Beside shapes that do not fit, these are lies: a letter that the header does not declare or that no
comment uses; a comment or an alternative that no run needed; two letters of one function that were
the same number in every call; tokens in reach that are all so far in every call; a letter that may
be any number and stands in one place only; and S, or M, in a function that has no T and (M) no
memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from specc.verify.shapes.grammar import LETTER
from specc.verify.shapes.legend import Legend, Length, values_of
from specc.verify.shapes.places import Kind, Lie, Place, Scope, Survey, by_line
from specc.verify.shapes.recorder import Call
from specc.verify.shapes.solve import Conflict, Sizes, Solution, sizes_of, solve, wanted

MEMORY_WORDS = ("memory", "source")
SUBJECTS = {
    Kind.RETURN: "what is returned",
    Kind.RESULT: "what is returned",
    Kind.ARGUMENTS: "what is given",
}


@dataclass(frozen=True)
class Evidence:
    """What the runs of an instrumented copy showed, and its `Config`'s sizes."""

    config: Mapping[str, int]
    calls: Mapping[str, tuple[Call, ...]]  # by scope


def judge(survey: Survey, evidence: Evidence) -> tuple[Lie, ...]:
    """All lies of a file, by line."""
    lies = [*survey.lies, *_legend_lies(survey)]
    for scope in survey.scopes:
        lies += judge_scope(scope, survey.legend, evidence)
    return tuple(sorted(lies, key=by_line))


def _legend_lies(survey: Survey) -> Iterator[Lie]:
    used = frozenset(letter for scope in survey.scopes for letter in scope.letters)
    for letter, meaning in survey.legend.meanings.items():
        if letter not in used:
            yield Lie(0, f"{letter} {meaning}", "no comment uses this letter of the header")


def judge_scope(scope: Scope, legend: Legend, evidence: Evidence) -> Iterator[Lie]:
    """The lies of one function or class: first what can be read, then what the runs refute, then
    what they leave open.
    """
    static = [*_undeclared(scope, legend), *_alone(scope, legend)]
    static += _unbound(scope, legend, evidence.config)
    yield from static
    if static:
        return
    own = {place.number for place in scope.places}  # not those of a function of the same name
    calls = tuple(c for c in evidence.calls[scope.name] if c.observations[0][0] in own)
    solved: list[tuple[Call, Solution]] = []
    refuted: set[int] = set()
    for call in calls:
        sizes = sizes_of(scope, legend, evidence.config, call)
        outcome = solve(scope, sizes)
        if isinstance(outcome, Solution):
            solved.append((call, outcome))
        elif outcome.place.number not in refuted:
            refuted.add(outcome.place.number)
            yield _lie(outcome.place, _conflict(outcome, sizes))
    if not refuted:
        solutions = [solution for _, solution in solved]
        yield from _unreached(scope, calls)
        yield from _unneeded(scope, solutions, calls)
        yield from _twins(scope, solutions, legend)
        yield from _all_in_reach(scope, solved, legend)


def _lie(place: Place, reason: str) -> Lie:
    return Lie(place.line, f"{place.name}  # {place.statement.text}".strip(), reason)


def _conflict(conflict: Conflict, sizes: Sizes) -> str:
    subject = SUBJECTS.get(conflict.place.kind, "the value")
    reason = f"{subject} is {conflict.seen}"
    statement = conflict.place.statement
    for name in sorted(statement.names - statement.letters):
        if not sizes.named(name):
            return f"{reason}, and no size is called {name} here"
    wants = wanted(statement, sizes, conflict.numbers)
    letters = ", ".join(f"{name}={number}" for name, number in wants.items())
    return f"{reason}, where {letters}" if letters else reason


def _undeclared(scope: Scope, legend: Legend) -> Iterator[Lie]:
    for place in scope.places:
        for letter in sorted(place.statement.letters - legend.meanings.keys()):
            yield _lie(place, f"the header declares no {letter}")


def _alone(scope: Scope, legend: Legend) -> Iterator[Lie]:
    """S, P and M are lengths beside T: where nothing else is told of, a length is T."""
    if any(legend.is_length(letter, Length.NEW) for letter in scope.letters):
        return
    new = next((c for c in legend.meanings if legend.is_length(c, Length.NEW)), None)
    if new is None:
        return
    has_memory = any(word in name for name in scope.parameters for word in MEMORY_WORDS)
    for place in scope.places:
        for letter in sorted(place.statement.letters):
            is_later = any(legend.is_length(letter, late) for late in (Length.ALL, Length.REACH))
            if is_later or (legend.is_length(letter, Length.MEMORY) and not has_memory):
                yield _lie(place, f"{letter} stands here without {new}: say {new}")


def _unbound(scope: Scope, legend: Legend, config: Mapping[str, int]) -> Iterator[Lie]:
    """A letter that neither a run nor `Config` gives a number must say that two sizes are one."""
    stands = [(p, letter) for p in scope.places for letter in LETTER.findall(p.statement.text)]
    often = Counter(letter for _, letter in stands)
    for place, letter in stands:
        field = legend.field(letter)
        is_bound = legend.is_of_run(letter) or (field is not None and values_of(field, config))
        if often[letter] == 1 and not is_bound:
            yield _lie(place, f"{letter} may be any number here and stands in one place only")


def _unreached(scope: Scope, calls: tuple[Call, ...]) -> Iterator[Lie]:
    for place in scope.places:
        if place.number not in _reached(calls) and not place.is_in_error_branch:
            yield _lie(place, "no run came here with a tensor")


def _reached(calls: tuple[Call, ...]) -> frozenset[int]:
    return frozenset(n for call in calls for n, seen in call.observations if not seen.is_empty)


def _unneeded(scope: Scope, solutions: list[Solution], calls: tuple[Call, ...]) -> Iterator[Lie]:
    needed = frozenset[tuple[int, int]]().union(*(s.readings for s in solutions))
    reached = _reached(calls)
    for place in scope.places:
        for i, reading in enumerate(place.statement.readings):
            if place.number in reached and (place.number, i) not in needed:
                yield _lie(place, f"no run needed {reading.text}")


def _all_in_reach(
    scope: Scope, solved: list[tuple[Call, Solution]], legend: Legend
) -> Iterator[Lie]:
    """Where no window hides any token, those in reach are all so far, and have that letter."""
    for letter in sorted(scope.letters):
        if not legend.is_length(letter, Length.REACH):
            continue
        told = [(s.numbers[letter], call.facts.all) for call, s in solved if letter in s.numbers]
        if told and all(reached == everything for reached, everything in told):
            place = next(p for p in scope.places if letter in p.statement.letters)
            yield _lie(place, f"{letter} is all tokens so far in every call")


def _twins(scope: Scope, solutions: list[Solution], legend: Legend) -> Iterator[Lie]:
    """Letters that were one number in every call are one letter, but for two sizes of `Config`."""
    for first, second in combinations(sorted(scope.letters), 2):
        if legend.field(first) and legend.field(second):
            continue
        both = [s.numbers for s in solutions if first in s.numbers and second in s.numbers]
        if both and all(numbers[first] == numbers[second] for numbers in both):
            place = next(p for p in scope.places if second in p.statement.letters)
            yield _lie(place, f"{first} and {second} are the same in every call")
