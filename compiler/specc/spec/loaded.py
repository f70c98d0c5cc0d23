"""`load`, the order of the stages, and `LoadedSpec`, which answers where a value stands and who
set it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from specc.diagnostics import Diagnostic, Position, SpecError, SpecPath, in_order
from specc.spec import shapes, style
from specc.spec.check import check
from specc.spec.effective import EffectiveField, effective
from specc.spec.ledger import check_ledger, strict, values_at
from specc.spec.reader import read
from specc.spec.resolve import resolve
from specc.spec.schema import Spec
from specc.spec.sugar import spell_out
from specc.spec.tree import Mapping, Origin, Scalar, descend
from specc.spec.validate import place_of, validate


@dataclass(frozen=True)
class LoadedSpec:
    """A spec that holds together, with its text and the trees it came from."""

    spec: Spec
    source: str
    text: str
    authored: Mapping  # as written, short forms spelt out
    resolved: Mapping  # as `spec`

    def position_of(self, path: SpecPath) -> Position | None:
        """Where a path stands, of the file or of the schema; else the nearest part above it."""
        for end in range(len(path), 0, -1):
            found = values_at(self.resolved, path[:end])
            places = [node.mark.position for node in found if node.mark.position is not None]
            if places:
                return places[0]
        return place_of(self.resolved, path) or place_of(self.authored, path)

    def origin_of(self, path: SpecPath) -> Origin:
        """Who set the value at a path of the schema."""
        return list(descend(self.resolved, path))[-1].mark.origin

    @property
    def effective(self) -> tuple[EffectiveField, ...]:
        """Every value that the spec comes to, in reading order."""
        return effective(self.resolved, self.spec)

    def strict(self) -> tuple[Diagnostic, ...]:
        """What `--strict` refuses: values without a ledger entry, entries that say too little."""
        return in_order(self._placed(strict(self.effective, self.spec, self.authored)))

    def _placed(self, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        return SpecError(found).located(self.source, self.text, self.position_of).diagnostics

    def locate(self, error: SpecError) -> SpecError:
        """A later stage's error with this file's positions and lines."""
        return error.located(self.source, self.text, self.position_of)


def load(text: str | bytes, source: str) -> LoadedSpec:
    """Read a spec; `source` is its name in messages. Raises SpecError with all that is wrong."""
    content, document = read(text, source)
    problems: list[Diagnostic] = list(check(document, shapes.spec()))
    words = _style_words(document, content)
    problems += style.problems(words)
    authored = document
    if not problems:
        spelt = spell_out(document, shapes.spec())
        authored = spelt if isinstance(spelt, Mapping) else document
        resolved = resolve(authored, style.tree(words), problems)
    spec = None
    if not problems:
        problems += check_ledger(authored, resolved)
        spec = validate(resolved, problems)
    if problems or spec is None:
        found = SpecError(problems)
        raise found.located(source, content, lambda path: place_of(authored, path))
    return LoadedSpec(spec, source, content, authored, resolved)


def _style_words(document: Mapping, text: str) -> tuple[style.Word, ...]:
    line = document.get("style")
    if not isinstance(line, Scalar) or not isinstance(line.value, str):
        return ()
    return style.words(line, text)
