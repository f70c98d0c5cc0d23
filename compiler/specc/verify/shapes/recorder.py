"""Notes the live shapes at every commented place, one record a call of a function.

Equal calls are kept once. The functions of an instrumented module are wrapped after it is executed.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, cast

from torch import Tensor

from specc.verify.shapes.legend import Facts
from specc.verify.shapes.places import Kind, Place, Scope


@dataclass(frozen=True)
class Seen:
    """A value: the shapes of its tensors, None for None, and a type's name for anything else."""

    leaves: tuple[tuple[int, ...] | str | None, ...]
    is_tuple: bool

    @property
    def tensors(self) -> tuple[tuple[int, ...] | None, ...]:
        """Its tensors and Nones in order; flags and numbers beside them are passed over."""
        return tuple(leaf for leaf in self.leaves if not isinstance(leaf, str))

    @property
    def is_empty(self) -> bool:
        """Whether nothing in it has a shape."""
        return not any(isinstance(leaf, tuple) for leaf in self.leaves)

    @property
    def stands_for_none(self) -> bool:
        """Whether it is what a type may allow in place of a tensor: None, or a slice of rows."""
        return self.is_empty and (None in self.leaves or self.leaves == (slice.__name__,))

    def __str__(self) -> str:
        words = [_words(leaf) for leaf in self.leaves]
        return f"({', '.join(words)})" if self.is_tuple else words[0]


def _words(leaf: tuple[int, ...] | str | None) -> str:
    return str(list(leaf)) if isinstance(leaf, tuple) else str(leaf)


@dataclass(frozen=True)
class Call:
    """One call of a scope: the run's numbers, integer arguments, and what each place saw."""

    facts: Facts
    integers: tuple[tuple[str, int], ...]
    observations: tuple[tuple[int, Seen], ...]


@dataclass
class _OpenCall:
    scope: str
    integers: dict[str, int]
    observations: dict[tuple[int, Seen], None] = field(default_factory=dict)


class Recorder:
    """What the instrumented copy calls. `facts` are those of the run that goes on."""

    def __init__(self, scopes: tuple[Scope, ...]) -> None:
        self.scopes = {scope.name: scope for scope in scopes}
        self.calls: dict[str, dict[Call, None]] = {scope.name: {} for scope in scopes}
        self.facts = Facts()
        self._scope_of = {p.number: s.name for s in self.scopes.values() for p in s.places}
        self._open: list[_OpenCall] = []

    def saw(self, number: int, value: object) -> object:
        """Note a value in the innermost call of its function, and hand it back."""
        for call in reversed(self._open):
            if call.scope == self._scope_of.get(number):
                call.observations[number, seen(value)] = None
                break
        return value

    @contextmanager
    def running(self, facts: Facts) -> Iterator[None]:
        """The numbers of the calls inside."""
        before, self.facts = self.facts, facts
        try:
            yield
        finally:
            self.facts = before

    @contextmanager
    def call(self, scope: Scope, integers: Mapping[str, int]) -> Iterator[None]:
        """A call of that scope."""
        opened = _OpenCall(scope.name, dict(integers))
        self._open.append(opened)
        try:
            yield
        finally:
            self._open.pop()
            observations = tuple(opened.observations)
            if observations:
                call = Call(self.facts, tuple(opened.integers.items()), observations)
                self.calls[scope.name][call] = None

    def watch(self, module: ModuleType) -> None:
        """Wrap every commented function and class that the executed copy has."""
        for scope in self.scopes.values():
            *outer, name = scope.name.split(".")
            owner: Any = module
            for part in outer:
                owner = vars(owner).get(part, owner)
            if name not in vars(owner):
                continue
            if all(place.kind is Kind.FIELD for place in scope.places):
                self._watch_fields(vars(owner)[name], scope)
            else:
                setattr(owner, name, self._watched(vars(owner)[name], scope))

    def _watched(self, function: object, scope: Scope) -> object:
        match function:
            case staticmethod():
                return staticmethod(self._wrapped(function.__func__, scope))
            case classmethod():
                return classmethod(self._wrapped(function.__func__, scope))
            case property(fget=getter) if getter is not None:
                return property(self._wrapped(getter, scope), function.fset, function.fdel)
            case _ if callable(function):
                return self._wrapped(function, scope)
            case _:
                return function

    def _wrapped(self, function: Callable[..., object], scope: Scope) -> Callable[..., object]:
        signature = inspect.signature(function)

        @contextmanager
        def calling(*given: object, **named: object) -> Iterator[None]:
            bound = signature.bind(*given, **named)
            bound.apply_defaults()
            arguments = bound.arguments
            with self.call(scope, _integers(arguments)):
                for place in scope.places:
                    if place.kind is Kind.PARAMETER:
                        self.saw(place.number, arguments[place.name])
                    elif place.kind is Kind.ARGUMENTS:
                        self.saw(place.number, _tensors(arguments, scope, place))
                yield

        @functools.wraps(function)
        def wrapped(*given: object, **named: object) -> object:
            with calling(*given, **named):
                result = function(*given, **named)
                for place in scope.places:
                    if place.kind is Kind.RESULT:
                        self.saw(place.number, result)
                return result

        @functools.wraps(function)
        def streamed(*given: object, **named: object) -> Iterator[object]:
            with calling(*given, **named):
                yield from cast("Iterator[object]", function(*given, **named))

        return streamed if inspect.isgeneratorfunction(function) else wrapped

    def _watch_fields(self, cls: Any, scope: Scope) -> None:  # noqa: ANN401  # any class
        if issubclass(cls, tuple):
            create = cls.__new__

            def created(kind: type, *given: object, **named: object) -> object:
                instance = create(kind, *given, **named)
                self._note_fields(instance, scope)
                return instance

            cls.__new__ = staticmethod(created)
            return
        initialise = cls.__init__

        @functools.wraps(initialise)
        def initialised(instance: object, *given: object, **named: object) -> None:
            initialise(instance, *given, **named)
            self._note_fields(instance, scope)

        cls.__init__ = initialised

    def _note_fields(self, instance: Any, scope: Scope) -> None:  # noqa: ANN401
        with self.call(scope, {}):
            for place in scope.places:
                self.saw(place.number, getattr(instance, place.name))


def _integers(arguments: Mapping[str, object]) -> dict[str, int]:
    return {n: v for n, v in arguments.items() if isinstance(v, int) and not isinstance(v, bool)}


def _tensors(arguments: Mapping[str, object], scope: Scope, place: Place) -> object:
    """The first tensor arguments, as many as the docstring's left side tells of."""
    count = len(place.statement.readings[0].shapes)
    found = tuple(arguments[name] for name in scope.tensors[:count])
    return found[0] if len(found) == 1 else found


def seen(value: object) -> Seen:
    """The shapes of a value. Only tuples and lists are looked into."""
    if isinstance(value, tuple | list):
        return Seen(tuple(_leaf(part) for part in value), is_tuple=True)
    return Seen((_leaf(value),), is_tuple=False)


def _leaf(value: object) -> tuple[int, ...] | str | None:
    if isinstance(value, Tensor):
        return tuple(value.shape)
    return None if value is None else type(value).__name__
