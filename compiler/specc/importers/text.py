"""A draft as YAML: sizes first, one part a line where it fits, then the ledger, then the keys of
the config that change nothing, as comments.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from specc.diagnostics import SpecPath, dotted
from specc.importers.config import Cited
from specc.importers.draft import Draft
from specc.spec.quoting import quoted

WIDTH = 100
_ORDER = (
    "kind",
    "vocab_size",
    "d_model",
    "n_layers",
    "max_seq_len",
    "embedding",
    "position",
    "norm",
    "block",
    "attention",
    "feed_forward",
    "final_norm",
    "head",
    "dropout",
    "init",
    "layers",
)


def spec_text(draft: Draft, head: Mapping[str, object], ignored: Mapping[SpecPath, str]) -> str:
    """The whole spec. `head` are its first fields: name, title, source."""
    model_type = head["model_type"]
    lines = [
        f"# Imported from a config of model_type {model_type}.",
        "# The ledger says which key each value came from.",
        "specc: 1",
    ]
    for key, value in head.items():
        if key != "model_type" and value:
            lines += _field(key, value, 0)
    if "huggingface" in lines[-1]:
        lines[-1] += "  # what _name_or_path says the weights were loaded from"
    lines.append("")
    for key in sorted(draft.values, key=_ORDER.index):
        lines += _field(key, draft.values[key], 0)
    lines += ["", "ledger:"]
    for path, cited in sorted(draft.citations.items(), key=_place):
        lines += _field(path, _entry(cited), 2)
    lines += _ignored(ignored)
    return "\n".join(lines) + "\n"


def _place(item: tuple[str, Cited[Any]]) -> int:
    """Entries follow the order of the parts."""
    return _ORDER.index(item[0].partition(".")[0])


def _entry(cited: Cited[Any]) -> dict[str, str]:
    entry = {"status": cited.status, "at": cited.at}
    return entry if cited.because is None else {**entry, "because": cited.because}


def _field(key: str, value: object, indent: int) -> Iterator[str]:
    """`key: value` on one line if it fits, else the value below, or folded."""
    margin = " " * indent
    line = f"{margin}{key}: {_flow(value)}"
    if len(line) <= WIDTH or not isinstance(value, dict | list):
        yield line
    elif isinstance(value, dict):
        yield f"{margin}{key}:"
        for inner, below in value.items():
            yield from _field(inner, below, indent + 2)
    else:
        yield f"{margin}{key}:"
        inside = " " * (indent + 2)
        yield from textwrap.wrap(
            _flow(value), WIDTH, initial_indent=inside, subsequent_indent=f"{inside} "
        )


def _flow(value: object, *, is_inner: bool = False) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return quoted(value, in_flow=is_inner)
        case dict():
            inner = (f"{key}: {_flow(below, is_inner=True)}" for key, below in value.items())
            return f"{{{', '.join(inner)}}}"
        case list() | tuple():
            return f"[{', '.join(_flow(each, is_inner=True) for each in value)}]"
        case _:
            return str(value)


def _ignored(ignored: Mapping[SpecPath, str]) -> Iterator[str]:
    if ignored:
        yield ""
        yield "# Keys of the config that change nothing in the model:"
    by_reason = sorted(ignored.items(), key=lambda item: item[1])
    for reason, items in groupby(by_reason, key=lambda item: item[1]):
        keys = ", ".join(dotted(path) for path, _ in items)
        yield from textwrap.wrap(
            f"{keys}: {reason}", WIDTH, initial_indent="#   ", subsequent_indent="#     "
        )
