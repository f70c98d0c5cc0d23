"""Executes shape comments: a file's comments are held against the shapes of real runs.

**Grammar.** See `grammar`. Comments stand behind parameters, assignments, fields of classes and
returns. In a function's docstring, `A -> B` tells the first tensor arguments (`2 x [...]`: the
first two) and the result; shapes without an arrow are the result's. A `None` or a slice passes
where the type allows it or there is no type; flags and numbers in a tuple beside tensors are
passed over.

**Binding.** A letter has one number for one call of a function (or one instance of a class with
fields). What it may be follows from its meaning in the header's paragraph `Shapes`:

- batch: the run's batch. New tokens: those of this call of the model, or the places of its memory,
  since layers and helpers work on these as well. All tokens so far: old and new ones, or the
  memory's. Tokens in reach: these, or the new ones and those that a window of `Config` lets the
  first of them look back at, which may differ from one tensor to the next of `[...] each`. Memory
  places: the memory's. In `__init__` there are none of them.
- vocabulary, model width, query heads, key/value heads, head width, turned features, feed-forward
  width, classes: the `Config` field of that name, or one of those with a suffix (`d_ff_encoder`).
  In a function of the module whose comments have no letter for key/value heads, query heads may be
  either number of heads: `split_heads` serves both.
- an expert's tokens: the rows of a matrix of the call.
- Another meaning, or a `Config` without that field: any number, if the letter stands at two places.

A lower-case name is an integer parameter of the function, a `Config` field, a cache's `capacity`,
or the `room` of one of its layers, which for a window is all but its newest token. What else is a
lie: see `judge`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import nn

from specc.verify.loading import LoadedFile, LoadError, describe, loaded
from specc.verify.shapes.judge import Evidence, judge
from specc.verify.shapes.places import Lie, Survey
from specc.verify.shapes.recorder import Recorder
from specc.verify.shapes.runs import UncallableError, caller
from specc.verify.shapes.sizes import small_config, small_tuples
from specc.verify.shapes.survey import RECORDER, survey

__all__ = ["Lie", "LoadError", "Observed", "UncallableError", "examine", "observe"]


@dataclass(frozen=True)
class Observed:
    """A file's comments and what its runs showed."""

    survey: Survey
    evidence: Evidence

    @property
    def count(self) -> int:
        """How many comments there are; the two sides of a docstring are two."""
        return len(self.survey.places)

    @property
    def lies(self) -> tuple[Lie, ...]:
        """What is wrong, by line."""
        return judge(self.survey, self.evidence)


def examine(text: str) -> Observed:
    """`observe`, for a file that may not run: raises LoadError or UncallableError with one line."""
    try:
        return observe(text)
    except (LoadError, UncallableError):
        raise
    except SyntaxError as error:
        raise LoadError(describe(error, "")) from error


def observe(text: str) -> Observed:
    """Instrument a copy of the file and run it with small sizes in `Config`.

    Raises LoadError, UncallableError, SyntaxError.
    """
    found = survey(text)
    recorder = Recorder(found.scopes)
    with loaded(found.text, "shapes", {RECORDER: recorder.saw}) as file:
        recorder.watch(file.module)
        config = _run(file, recorder)
    calls = {name: tuple(calls) for name, calls in recorder.calls.items()}
    return Observed(found, Evidence(config, calls))


def _run(file: LoadedFile, recorder: Recorder) -> Mapping[str, int]:
    """Build the model at the first sizes that it accepts, and call it. Returns all its sizes."""
    problem = ""
    for sizes in small_config(file.config_class):
        try:
            config = file.config_class(**sizes, **small_tuples(file.config_class, sizes))
            model = _built(file, config)
            integers = _integers(config)
            caller(model, integers, recorder).run()
        except UncallableError:
            raise
        except Exception as error:  # noqa: BLE001  # the file may raise anything
            problem = problem or describe(error, str(file.module.__file__))
            continue
        return integers
    raise UncallableError(f"its model does not run: {problem}")


def _built(file: LoadedFile, config: object) -> nn.Module:
    torch.manual_seed(0)
    return file.model_class(config).eval()


def _integers(config: object) -> dict[str, int]:
    if not dataclasses.is_dataclass(config):
        raise UncallableError("Config is no dataclass")
    found = {f.name: getattr(config, f.name) for f in dataclasses.fields(config)}
    return {n: v for n, v in found.items() if isinstance(v, int) and not isinstance(v, bool)}
