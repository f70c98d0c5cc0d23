"""A config, read key by key: every value comes with the place it was found, every key that is read
is remembered, and what nobody read, nobody knows or nobody supports becomes a problem.

Problems are collected, so that one run shows them all; a reader goes on with a stand-in value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from specc.diagnostics import Diagnostic, SpecPath, did_you_mean, dotted, listed
from specc.importers.document import Document, Value, shown

T = TypeVar("T")
S = TypeVar("S")
Fits = Callable[[Value], bool]
_CITED = re.compile(r"config\.json: ([^\s,]+)")
Status = Literal["official_code", "deviates"]


@dataclass(frozen=True)
class Cited(Generic[T]):
    """A value and where it comes from, as a ledger says it."""

    value: T
    at: str
    because: str | None = None
    status: Status = "official_code"

    def but(self, value: S, because: str | None = None) -> Cited[S]:
        """Another value that follows from this one."""
        return Cited(value, self.at, because or self.because, self.status)


@dataclass
class Log:
    """What happened to the keys of one document."""

    problems: list[Diagnostic] = field(default_factory=list)
    read: set[SpecPath] = field(default_factory=set)
    asked: dict[SpecPath, None] = field(default_factory=dict)  # in order; also keys that are absent
    ignored: dict[SpecPath, str] = field(default_factory=dict)


class _Required:
    """The default of a key that must be there."""


REQUIRED = _Required()


class Config:
    """One mapping of a config. `module` is the library's name of the family, for citations."""

    def __init__(
        self,
        document: Document,
        module: str,
        log: Log | None = None,
        path: SpecPath = (),
        values: Mapping[str, Value] | None = None,
    ) -> None:
        self._document = document
        self._written = document.values if values is None else values
        self._values = dict(self._written)
        self._path = path
        self._names: dict[str, str] = {}  # of keys that stand under another name
        self.module = module
        self.log = Log() if log is None else log

    # Where values come from.

    def code(self, value: T, because: str) -> Cited[T]:
        """A value that the library's code has and no key changes."""
        return Cited(value, f"modeling_{self.module}.py", because)

    def deviates(self, value: T, because: str) -> Cited[T]:
        """A value that differs from the library's on purpose."""
        return Cited(value, f"modeling_{self.module}.py", because, "deviates")

    def _default(self, key: str, value: T) -> Cited[T]:
        because = f"the config leaves out {key}, and this is the library's default"
        return Cited(value, f"configuration_{self.module}.py", because)

    def _cited(self, key: str, value: T) -> Cited[T]:
        return Cited(value, f"config.json: {dotted(self._place(key))}")

    def rename(self, aliases: Mapping[str, str]) -> None:
        """Other names of keys, which the library takes for the same."""
        for alias, key in aliases.items():
            if alias not in self._values:
                continue
            if key not in self._values:
                self._names[key] = alias
                self._values[key] = self._values[alias]
            elif self._values[alias] == self._values[key]:
                self.ignore({alias: f"another name of {key}"})
            else:
                values = f"{shown(self._values[alias])} and {shown(self._values[key])}"
                message = f"{alias} and {key} are names of one thing, and say {values}"
                self.refuse(alias, message)
                self._seen(alias)

    # Reading.

    def has(self, key: str) -> bool:
        """Whether the config says something there, null apart."""
        return self._values.get(key) is not None

    def count(self, key: str, default: int | _Required = REQUIRED) -> Cited[int]:
        """A whole number from 1."""
        return self._read(key, default, 1, _is_count, "a count, from 1")

    def optional_count(self, key: str, default: int | None = None) -> Cited[int] | None:
        """A whole number from 1; None for null, and for no key where there is no default."""
        if self._asked(key) or (key not in self._values and default is not None):
            return self.count(key, REQUIRED if default is None else default)
        return None

    def whole(self, key: str, default: int) -> Cited[int]:
        """A whole number from 0."""
        return self._read(key, default, 0, _is_whole, "a whole number")

    def number(self, key: str, default: float | _Required = REQUIRED) -> Cited[float]:
        """A number."""
        return self._read(key, default, 1.0, _is_number, "a number")

    def optional_number(self, key: str, default: float | None = None) -> Cited[float] | None:
        """A number; None for null, and for no key where there is no default."""
        if self._asked(key) or (key not in self._values and default is not None):
            return self.number(key, REQUIRED if default is None else default)
        return None

    def flag(self, key: str, default: bool) -> Cited[bool]:
        """True or false."""
        return self._read(key, default, default, _is_flag, "true or false")

    def truth(self, key: str, default: bool) -> Cited[bool]:
        """True or false, or a number in its place."""
        found = self._read(key, default, default, _is_flag_or_whole, "true or false")
        return found.but(bool(found.value))

    def word(self, key: str, known: Mapping[str, T], default: str, what: str) -> Cited[T]:
        """A word of a table, which gives the value. `what` names such words in errors."""
        found = self._read(key, default, default, _is_text, "a word")
        if found.value not in known:
            hint = did_you_mean(found.value, known) or f"known: {listed(known, 'and')}"
            self.refuse(key, f"the {what} {shown(found.value)} is not in the vocabulary", hint)
            return Cited(known[default], found.at)
        return Cited(known[found.value], found.at, found.because)

    def text(self, key: str) -> Cited[str] | None:
        """Any text, or None for null and for no key."""
        return self._read(key, "", "", _is_text, "a text") if self._asked(key) else None

    def words(self, key: str) -> Cited[list[str]] | None:
        """A list of words, or None for null and for no key."""
        return self._list(key, _is_text, "a list of words")

    def counts(self, key: str) -> Cited[list[int]] | None:
        """A list of whole numbers, or None for null and for no key."""
        return self._list(key, _is_whole, "a list of whole numbers")

    def numbers(self, key: str) -> Cited[list[float]] | None:
        """A list of numbers, or None for null and for no key."""
        return self._list(key, _is_number, "a list of numbers")

    def inner(self, key: str) -> Config | None:
        """The mapping there, or None for null, no key and the empty mapping."""
        if not self._asked(key):
            return None
        value = self._values[key]
        if isinstance(value, dict):
            inside = self._place(key)
            return Config(self._document, self.module, self.log, inside, value) if value else None
        self._wrong(key, "an object")
        return None

    def empty(self) -> Config:
        """A config of the same family that says nothing: every value is the library's default."""
        return Config(self._document, self.module, Log(), self._path, {})

    # Judging.

    def expect(self, key: str, allowed: object, lacks: str) -> None:
        """Nothing but that value, where the key is there at all; `lacks` names what else needs."""
        if self._seen(key):
            value = self._values[key]
            if value != allowed or isinstance(value, bool) is not isinstance(allowed, bool):
                self.refuse(key, f"{key} is {shown(value)}: {lacks}")

    def architectures(self, endings: tuple[str, ...], wanted: str) -> str | None:
        """The class that the weights are of: its name ends in one of these, if there is one."""
        named = self.words("architectures")
        if named is None or not named.value:
            return None
        name = named.value[0]
        if not name.endswith(endings):
            what = f"architectures names {name}, which is not {wanted}"
            self.refuse("architectures", what, f"known: names that end in {listed(endings)}")
        return name

    def named_class(self, name: str | None, default: str) -> Cited[str]:
        """The class of the weights, with the key that names it; `default` where none does."""
        if name is None:
            return self._default("architectures", default)
        return self._cited("architectures", name)

    def need(self, key: str, why: str) -> None:
        """A key without which nothing can be said."""
        if key not in self._values:
            message = f"the config has no {dotted(self._place(key))}, and needs one: {why}"
            self.log.problems.append(Diagnostic(self._path, message))

    def ignore(self, reasons: Mapping[str, str]) -> None:
        """Keys that change nothing, and why."""
        for key, reason in reasons.items():
            if self._seen(key):
                self.log.ignored[self._place(key)] = reason

    def refuse(self, key: str, message: str, hint: str | None = None) -> None:
        """What the config asks for there cannot be had."""
        self.log.problems.append(Diagnostic(self._place(key), message, hint))

    def is_refused(self, key: str) -> bool:
        """Whether something was said against what stands there."""
        return any(each.path == self._place(key) for each in self.log.problems)

    def pass_over(self) -> None:
        """All keys of a mapping whose purpose was refused: nothing more is said of them."""
        for key in self._written:
            self._seen(key)

    def without_effect(self, said: Iterable[str]) -> Iterator[SpecPath]:
        """The keys that were read and that no citation, of those `said`, speaks of."""
        cited = {key for at in said for key in _CITED.findall(at)}
        for path in self._paths(self._written, self._path):
            below = any(key.startswith(f"{dotted(path)}.") for key in cited)
            if not below and dotted(path) not in cited and path not in self.log.ignored:
                yield path

    def unread(self) -> Iterable[Diagnostic]:
        """A problem for every key that nobody asked for."""
        for path in self._paths(self._written, self._path):
            if path not in self.log.read:
                known = [str(asked[-1]) for asked in self.log.asked if asked[:-1] == path[:-1]]
                hint = did_you_mean(str(path[-1]), known)
                message = f"{dotted(path)}: specc does not know this key of a {self.module} config"
                hint = hint or "if it changes nothing in the model, leave it out"
                yield Diagnostic(path, message, hint)

    def _paths(self, values: Mapping[str, Value], above: SpecPath) -> Iterator[SpecPath]:
        """Every key here, and those inside mappings that somebody looked into."""
        for key, value in values.items():
            path = (*above, key)
            yield path
            if isinstance(value, dict) and any(asked[:-1] == path for asked in self.log.asked):
                yield from self._paths(value, path)

    def _place(self, key: str) -> SpecPath:
        """The path of a key as it is written."""
        return (*self._path, self._names.get(key, key))

    def _seen(self, key: str) -> bool:
        """Whether the key is there; it counts as read."""
        self.log.asked[self._place(key)] = None
        self.log.read.add(self._place(key))
        return key in self._values

    def _asked(self, key: str) -> bool:
        """Whether the key is there and not null; it counts as read."""
        return self._seen(key) and self._values[key] is not None

    def _read(
        self, key: str, default: T | _Required, stand_in: T, fits: Fits, wanted: str
    ) -> Cited[T]:
        if not self._seen(key):
            if not isinstance(default, _Required):
                return self._default(key, default)
            message = f"the config has no {dotted(self._place(key))}, and needs one"
            self.log.problems.append(Diagnostic(self._path, message))
            return self._default(key, stand_in)
        value = self._values[key]
        if not fits(value):
            self._wrong(key, wanted)
            return self._cited(key, stand_in)
        return self._cited(key, value)  # type: ignore[arg-type]  # `fits` has looked

    def _list(self, key: str, fits: Fits, wanted: str) -> Cited[list[T]] | None:
        if not self._asked(key):
            return None
        value = self._values[key]
        if not isinstance(value, list) or not all(fits(each) for each in value):
            self._wrong(key, wanted)
            return None
        return self._cited(key, value)  # type: ignore[arg-type]  # `fits` has looked

    def _wrong(self, key: str, wanted: str) -> None:
        value = shown(self._values[key])
        self.refuse(key, f"{dotted(self._place(key))} must be {wanted}, not {value}")


def _is_flag(value: Value) -> bool:
    return isinstance(value, bool)


def _is_flag_or_whole(value: Value) -> bool:
    return isinstance(value, int)


def _is_text(value: Value) -> bool:
    return isinstance(value, str)


def _is_whole(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_count(value: Value) -> bool:
    return _is_whole(value) and value != 0


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
