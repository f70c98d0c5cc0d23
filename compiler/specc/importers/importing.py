"""`import_config`: which dialect a config is of, how its spec is called, what speaks against it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from specc.diagnostics import Diagnostic, did_you_mean, listed
from specc.importers.common import read_common
from specc.importers.config import Config
from specc.importers.configs import BY_MODEL_TYPE, MISSING
from specc.importers.dialect import Dialect
from specc.importers.document import LARGEST_CONFIG, Document, read, shown
from specc.importers.draft import Draft
from specc.importers.text import spec_text
from specc.spec.names import LONGEST_NAME, one_line, why_not, why_not_text

MOST_BYTES = LARGEST_CONFIG + 1  # read no further: the reader refuses more
_NO_EFFECT = "read: what it says here asks for nothing more"
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+", re.ASCII)
_LONGEST_TITLE = 60


@dataclass(frozen=True)
class Imported:
    """The text of a spec, and from which field of it to which key of the config errors lead."""

    name: str
    text: str
    keys: dict[str, str]  # path of a field -> where its value was found


def import_config(
    data: bytes, source: str, name: str | None = None, *, folder: str | None = None
) -> Imported:
    """The spec of a config. `source` is its name in messages, `folder` a name to fall back on.

    Raises SpecError with every key that is unknown, missing, wrong or asks for what specc lacks.
    """
    document = read(data, source)
    dialect = _dialect(document)
    config = Config(document, dialect.module)
    draft = Draft()
    known_as = _known_as(config)
    read_common(config)
    dialect.translate(config, draft)
    problems = [*config.log.problems, *config.unread()]
    if problems:
        raise document.error(problems)
    model_type = str(document.values["model_type"])
    named = slug(known_as or folder or model_type) if name is None else name
    _check_name(named, document)
    head = {
        "model_type": model_type,
        "name": named,
        "title": _title(known_as or folder or "") or dialect.title,
        "source": _source(known_as, draft.layout or dialect.layout),
    }
    keys = {path: cited.at for path, cited in draft.citations.items()}
    rest = dict.fromkeys(config.without_effect(keys.values()), _NO_EFFECT)
    return Imported(named, spec_text(draft, head, {**config.log.ignored, **rest}), keys)


def slug(text: str) -> str:
    """A name for a file out of any text: `org/Llama-3.2-1B` -> `llama_3_2_1b`."""
    last = text.rstrip("/").rpartition("/")[2]
    word = re.sub(r"[^a-z0-9]+", "_", last.lower()).strip("_")[:LONGEST_NAME].rstrip("_")
    if not word or why_not(word, "file") is not None:
        word = f"model_{word}"[:LONGEST_NAME].rstrip("_")
    return word


def _dialect(document: Document) -> Dialect:
    values = document.values
    if "model_type" not in values:
        message = "the config has no model_type, which says whose words its keys are"
        raise document.error([Diagnostic((), message, 'add "model_type": ...')])
    model_type = values["model_type"]
    if not isinstance(model_type, str):
        message = f"model_type must be a word, not {shown(model_type)}"
        raise document.error([Diagnostic(("model_type",), message)])
    dialect = BY_MODEL_TYPE.get(model_type)
    if dialect is not None:
        return dialect
    missing = MISSING.get(model_type)
    if missing is not None:
        message = f"model_type {shown(model_type)} cannot be imported: {missing}"
        raise document.error([Diagnostic(("model_type",), message)])
    message = f"no importer for model_type {shown(model_type)}"
    known = f"known: {listed(sorted(BY_MODEL_TYPE), 'and')}"
    hint = did_you_mean(model_type, BY_MODEL_TYPE) or known
    raise document.error([Diagnostic(("model_type",), message, hint)])


def _known_as(config: Config) -> str | None:
    """The name under which the library loaded the config, if it says so."""
    said = config.text("_name_or_path")
    return said.value if said is not None and said.value.strip() else None


def _title(text: str) -> str | None:
    """The last part of a name or path, if a person can read it."""
    last = one_line(text.rstrip("/").rpartition("/")[2])
    if not last or len(last) > _LONGEST_TITLE or why_not_text(last) is not None:
        return None
    return last


def _source(known_as: str | None, layout: str) -> dict[str, str]:
    is_repository = known_as is not None and _REPOSITORY.fullmatch(known_as) is not None
    named = {"huggingface": known_as} if known_as is not None and is_repository else {}
    return {**named, "layout": layout}


def _check_name(name: str, document: Document) -> None:
    reason = why_not(name, "file")
    if reason is not None:
        message = f"a spec cannot be called {shown(name)}: {reason}"
        raise document.error([Diagnostic((), message, "say another with --name")])
