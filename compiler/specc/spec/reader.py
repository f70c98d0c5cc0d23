"""Bytes or text -> the positioned tree of one YAML document, or every reason why not.

Works on the parser's events, so that nothing is constructed, no tag is resolved and depth and size
are bounded before any tree exists. Knows YAML, not the language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)
from ruamel.yaml.reader import ReaderError

from specc.diagnostics import Diagnostic, Position, SpecError, SpecPath, in_order
from specc.spec.scalars import ScalarError, resolve
from specc.spec.tree import Entry, Mapping, Mark, Node, Scalar, Sequence

LARGEST_FILE = 256 * 1024  # bytes
MOST_NODES = 20_000  # aliases expanded
DEEPEST = 24

# What no text may hold: controls, line separators that editors and parsers count differently, and
# marks that turn the direction of text round, so that a line reads as what it is not.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
    "\ud800-\udfff]"
)

_NOTHING = re.compile(r"^(---|\.\.\.)?[ \t]*(#.*)?$", re.MULTILINE)


def read(data: str | bytes, source: str) -> tuple[str, Mapping]:
    """The text (line ends as `\\n`, no byte order mark) and its tree. Raises SpecError."""
    text = _decode(data, source)
    found = _FORBIDDEN.search(text)
    if found is not None:
        message = f"the character U+{ord(found[0]):04X} cannot stand in a spec"
        hint = "in a quoted text, leave it out or spell it in words"
        raise SpecError(
            [Diagnostic((), message, hint, _position_at(text, found.start()))], source, text
        )
    builder = _Builder(source, text)
    document = builder.run()
    if builder.problems:
        raise SpecError(in_order(builder.problems), source, text)
    if not isinstance(document, Mapping):
        problem = Diagnostic((), "a spec is a mapping of `key: value` lines", None, Position(1, 1))
        raise SpecError([problem], source, text)
    return text, document


def _decode(data: str | bytes, source: str) -> str:
    size = len(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    if size > LARGEST_FILE:
        message = f"{size:,} bytes are too many for a spec: at most {LARGEST_FILE:,}"
        raise SpecError([Diagnostic((), message)], source)
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            known = error.object[: error.start].decode("utf-8-sig", "replace")
            message = f"byte {error.object[error.start]:#04x} is not UTF-8: save the file as UTF-8"
            problem = Diagnostic((), message, None, _position_at(known, len(known)))
            raise SpecError([problem], source, known) from None
    text = data.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not _NOTHING.sub("", text).strip():
        message, hint = "the spec is empty", "`specc init NAME` writes one to start from"
        raise SpecError([Diagnostic((), message, hint)], source, text)
    return text


def _position_at(text: str, offset: int) -> Position:
    before = text[:offset].replace("\r\n", "\n")
    return Position(before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1)


@dataclass
class _Open:
    """A collection whose end has not come yet."""

    path: SpecPath
    position: Position
    is_mapping: bool
    anchor: str | None
    entries: list[Entry] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    key: tuple[str, Position] | None = None
    lines: dict[str, int] = field(default_factory=dict)  # of the keys seen
    size: int = 1  # nodes inside, aliases expanded


_Tagged = ScalarEvent | MappingStartEvent | SequenceStartEvent


class _Builder:
    """Turns events into a tree, keeping every problem that still leaves a tree to read on."""

    def __init__(self, source: str, text: str) -> None:
        self.source = source
        self.text = text
        self.problems: list[Diagnostic] = []
        self.stack: list[_Open] = []
        self.root: Node | None = None
        self.documents = 0
        self.anchors: dict[str, tuple[Node, int]] = {}

    def run(self) -> Node | None:
        """Reads all events; a text that does not parse is fatal, with what was found before it."""
        try:
            for event in YAML(typ="safe", pure=True).parse(self.text):
                self._take(event)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = Position(mark.line + 1, mark.column + 1) if mark is not None else None
            self._stop(_plainly(error), place)
        except ReaderError as error:
            self._stop(
                "a character that YAML does not allow", _position_at(self.text, error.position)
            )
        except (YAMLError, RecursionError, ValueError):
            self._stop("this is not YAML that specc can read", None)
        return self.root

    def _take(self, event: Event) -> None:
        place = Position(event.start_mark.line + 1, event.start_mark.column + 1)
        match event:
            case DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    self._stop("a second document begins here: one file holds one spec", place)
            case ScalarEvent():
                self._scalar(event, place)
            case AliasEvent():
                self._alias(event.anchor, place)
            case MappingStartEvent() | SequenceStartEvent():
                self._open(event, place)
            case MappingEndEvent() | SequenceEndEvent():
                self._close()

    def _open(self, event: MappingStartEvent | SequenceStartEvent, place: Position) -> None:
        self._no_tag(event, place)
        if len(self.stack) >= DEEPEST:
            self._stop(f"nested more than {DEEPEST} levels deep", place)
        if self._wants_key():
            self._stop("a key must be a word, not a list or a mapping", place)
        is_mapping = isinstance(event, MappingStartEvent)
        self.stack.append(_Open(self._path(), place, is_mapping, event.anchor))

    def _close(self) -> None:
        done = self.stack.pop()
        mark = Mark(done.position, "body", done.path)
        node: Node = (
            Mapping(tuple(done.entries), mark)
            if done.is_mapping
            else Sequence(tuple(done.items), mark)
        )
        self._place(node, done.anchor, done.size)

    def _scalar(self, event: ScalarEvent, place: Position) -> None:
        self._no_tag(event, place)
        if self._wants_key():
            self._key(event, place)
            return
        quoted = event.style is not None
        if not quoted and event.value == "":
            place = self._last_key() or place
        mark = Mark(place, "body", self._path())
        try:
            value = event.value if quoted else resolve(event.value)
        except ScalarError as error:
            self._report(str(error), place)
            value = None
        self._place(Scalar(value, mark, event.value, quoted), event.anchor, 1)

    def _key(self, event: ScalarEvent, place: Position) -> None:
        top = self.stack[-1]
        name = event.value
        if event.style is None and not isinstance(_resolved(name), str):
            self._report(f"a key must be a word: '{name}' is read as something else", place)
        if name == "<<" and event.style is None:
            self._stop("merge keys (<<) are not part of the language", place)
        if name in top.lines:
            first = top.lines[name]
            self._report(f"duplicate key '{name}': it stands on line {first} already", place)
        top.lines.setdefault(name, place.line)
        top.key = (name, place)

    def _alias(self, anchor: str, place: Position) -> None:
        if self._wants_key():
            self._stop("a key must be a word, not an alias", place)
        if anchor not in self.anchors:
            self._stop(f"the alias '*{anchor}' stands inside its own anchor or before it", place)
        node, size = self.anchors[anchor]
        self._bound(size)
        self._place(_moved(node, self._path()), None, size)

    def _place(self, node: Node, anchor: str | None, size: int) -> None:
        if anchor is not None:
            self.anchors[anchor] = (node, size)
        if not self.stack:
            self.root = node
            return
        self._bound(size)
        top = self.stack[-1]
        top.size += size
        if top.is_mapping and top.key is not None:
            name, place = top.key
            top.key = None
            top.entries.append(Entry(name, node, place))
        else:
            top.items.append(node)

    def _bound(self, more: int) -> None:
        if self.stack and self.stack[-1].size + more > MOST_NODES:
            place = self._last_key() or self.stack[-1].position
            self._stop(f"more than {MOST_NODES:,} values, aliases counted where they stand", place)

    def _no_tag(self, event: _Tagged, place: Position) -> None:
        if event.tag is not None:
            self._stop(f"tags ({event.tag}) are not part of the language: a spec is data", place)

    def _wants_key(self) -> bool:
        return bool(self.stack) and self.stack[-1].is_mapping and self.stack[-1].key is None

    def _path(self) -> SpecPath:
        if not self.stack:
            return ()
        top = self.stack[-1]
        return (*top.path, top.key[0] if top.key is not None else len(top.items))

    def _last_key(self) -> Position | None:
        return self.stack[-1].key[1] if self.stack and self.stack[-1].key else None

    def _report(self, message: str, place: Position) -> None:
        self.problems.append(Diagnostic(self._path(), message, None, place))

    def _stop(self, message: str, place: Position | None) -> None:
        self.problems.append(Diagnostic((), message, None, place))
        raise SpecError(in_order(self.problems), self.source, self.text)


def _resolved(text: str) -> object:
    try:
        return resolve(text)
    except ScalarError:
        return None


def _moved(node: Node, path: SpecPath) -> Node:
    """An anchored node as if it had been written at the alias; its position stays the anchor's."""
    mark = replace(node.mark, written=path)
    if isinstance(node, Mapping):
        entries = tuple(replace(e, value=_moved(e.value, (*path, e.key))) for e in node.entries)
        return replace(node, entries=entries, mark=mark)
    if isinstance(node, Sequence):
        items = tuple(_moved(item, (*path, i)) for i, item in enumerate(node.items))
        return replace(node, items=items, mark=mark)
    return replace(node, mark=mark)


def _plainly(error: MarkedYAMLError) -> str:
    """The parser's message in a person's words where the parser's own would not help."""
    problem = error.problem or error.context or "this is not YAML"
    if "\\t" in problem:
        return "a tab where YAML wants spaces"
    if "mapping values are not allowed" in problem:
        return "a second `:` on one line: put the text in quotes, or start a new line"
    if not error.context or error.context == problem:
        return f"YAML: {problem}"
    start = f" that begins on line {error.context_mark.line + 1}" if error.context_mark else ""
    return f"YAML: {problem} ({error.context}{start})"
