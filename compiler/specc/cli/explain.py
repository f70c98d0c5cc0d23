"""`specc explain`: a spec with every default written out, or what a field means."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

from specc.cli.effective import effective_text
from specc.cli.failure import Code, Failure
from specc.cli.out import say
from specc.cli.sources import SUFFIXES, find_specs
from specc.pipeline import lower_loaded, read_source
from specc.spec import load
from specc.spec.docs import FieldDoc, UnknownFieldError, field_doc

WIDTH = 88
LABEL = 10


def explain(subject: str) -> Code:
    """Print what `subject` names: a file, else a field. Raises `Failure` and `SpecError`."""
    path = Path(subject)
    if path.suffix in SUFFIXES or path.is_file():
        say(_spec(path))
        return Code.FINE
    try:
        say("\n".join(_field(field_doc(subject))))
    except UnknownFieldError as error:
        raise Failure(str(error)) from error
    return Code.FINE


def _spec(path: Path) -> str:
    (spec,) = find_specs([path])
    source = read_source(spec, None)
    loaded = load(source.content, source.name)
    lower_loaded(loaded)  # explain nothing that does not hold together
    title = f"# {source.name} with every default written out, and where each value comes from."
    return f"{title}\n{effective_text(loaded)}"


def _field(doc: FieldDoc) -> Iterator[str]:
    yield doc.path
    yield from _wrapped(doc.meaning, "  ", "  ")
    yield ""
    for label, text in (
        ("type", doc.type),
        ("default", doc.default),
        ("fields", ", ".join(doc.fields)),
        ("source", doc.source),
        *(("mistake", mistake) for mistake in doc.mistakes),
        ("check", doc.check),
        ("elsewhere", doc.elsewhere),
    ):
        if text:
            yield from _wrapped(text, f"  {label:<{LABEL}}", " " * (LABEL + 2))


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest)
