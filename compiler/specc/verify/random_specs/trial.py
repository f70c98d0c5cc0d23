"""One spec put to the proof at its own sizes: compile, import, run, compare with golden.

Three outcomes are fine or not: the file agrees with golden, the spec is refused with a diagnostic,
or something is wrong.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from zlib import crc32

import torch

from specc.diagnostics import SpecError
from specc.ir.model import Model
from specc.pipeline import compile_fully, read_model
from specc.render import render
from specc.rewrite import tidy
from specc.verify.loading import LoadedFile, LoadError, loaded
from specc.verify.random_specs.comparing import disagreements

WIDEST = 88
STABLE_EVERY = 8  # formatting a text anew costs as much as all the rest: one in eight


class Verdict(Enum):
    """What came of a spec."""

    AGREES = "agrees"
    REFUSED = "refused"
    CRASHED = "crashed"
    DISAGREES = "disagrees"
    UNTIDY = "untidy"

    @property
    def is_fine(self) -> bool:
        """Whether the compiler did what it promises."""
        return self in (Verdict.AGREES, Verdict.REFUSED)


@dataclass(frozen=True)
class Outcome:
    """A verdict and its evidence: the diagnostics, the error, or what differs."""

    verdict: Verdict
    evidence: str = ""


def try_spec(text: str) -> Outcome:
    """Judge the spec that the text holds. Raises nothing that the compiler or the file raises."""
    return _judged(text, _tidied)


def try_unformatted(text: str) -> Outcome:
    """The same without formatting the file, which takes half of the time."""
    return _judged(text, _as_rendered)


Compile = Callable[[str], tuple[Model, str]]


def _judged(text: str, compile_text: Compile) -> Outcome:
    try:
        model, code = compile_text(text)
    except SpecError as error:
        return _refusal(error)
    except Exception as error:  # noqa: BLE001  # what a compiler may not do is what is looked for
        return Outcome(Verdict.CRASHED, _told(error))
    untidy = next(_untidiness(code), None) if compile_text is _tidied else None
    if untidy is not None:
        return Outcome(Verdict.UNTIDY, untidy)
    try:
        with torch.random.fork_rng(devices=[]), loaded(code, "drawn") as file:
            return _compared(model, file)
    except LoadError as error:
        return Outcome(Verdict.CRASHED, f"the file does not load: {error}")


def _tidied(text: str) -> tuple[Model, str]:
    compilation = compile_fully(text=text)
    return compilation.model, compilation.artifact.text


def _as_rendered(text: str) -> tuple[Model, str]:
    model = read_model(text=text)
    return model, render(model)


def _told(error: Exception) -> str:
    """The end of the traceback, without what was being handled when it was raised."""
    return "".join(traceback.format_exception(error, limit=-4, chain=False))


def _refusal(error: SpecError) -> Outcome:
    if not error.diagnostics:
        return Outcome(Verdict.CRASHED, "SpecError without a diagnostic")
    blank = [d for d in error.diagnostics if not d.message.strip()]
    if blank or not str(error).strip():
        return Outcome(Verdict.CRASHED, f"a diagnostic says nothing: {error.diagnostics}")
    return Outcome(Verdict.REFUSED, "; ".join(d.message for d in error.diagnostics))


def _compared(model: Model, file: LoadedFile) -> Outcome:
    try:
        found = next(disagreements(model, file), None)
    except Exception as error:  # noqa: BLE001  # the file may raise anything
        return Outcome(Verdict.CRASHED, _told(error))
    if found is not None:
        return Outcome(Verdict.DISAGREES, found)
    return Outcome(Verdict.AGREES)


def _untidiness(text: str) -> Iterator[str]:
    """Lines that are too long below the first, and text that tidying changes."""
    first, _, below = text.partition("\n")
    for number, line in enumerate(below.split("\n"), 2):
        if len(line) > WIDEST:
            yield f"line {number} has {len(line)} columns: {line}"
    if crc32(first.encode()) % STABLE_EVERY == 0 and tidy(below) != below:
        yield "tidying the tidy text changes it"
