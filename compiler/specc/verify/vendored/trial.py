"""Runs a test file against the text of a model in this process, without a collector or a disk.

It knows as much of pytest as the test files use: plain functions and `parametrize`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any

from specc.verify.loading import describe, loaded

OFF_DISK = Path("/nowhere")  # beside what the files are said to lie


@dataclass(frozen=True)
class Failure:
    """The first test that failed, with what it said."""

    test: str
    message: str


def first_failure(test_text: str, model_text: str, name: str) -> Failure | None:
    """Run the tests of `test_text` in order on the model `name`; None when all pass.

    Raises LoadError when the model's text is no module with a model.
    """
    places, known = list(sys.path), sys.modules.get(name)
    with loaded(model_text, name) as file:
        sys.modules[name] = file.module
        try:
            return _run(test_text, f"test_{name}")
        finally:
            sys.path[:] = places
            del sys.modules[name]
            if known is not None:
                sys.modules[name] = known


def _run(text: str, name: str) -> Failure | None:
    filename = str(OFF_DISK / f"{name}.py")
    module = ModuleType(name)
    module.__file__ = filename
    running = name
    try:
        exec(compile(text, filename, "exec"), module.__dict__)  # noqa: S102  # specc's own text
        for test, call in _calls(module):
            running = test
            call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  # pytest's own failures are no Exceptions
        return Failure(running, describe(error, filename))
    return None


def _calls(module: ModuleType) -> Iterator[tuple[str, Callable[[], object]]]:
    for name, value in vars(module).items():
        if name.startswith("test_") and callable(value):
            for arguments in _arguments(value):
                yield name, partial(value, **arguments)


def _arguments(test: Any) -> Iterator[dict[str, object]]:  # noqa: ANN401  # any test function
    """What each run of a parametrised test is given."""
    marks = [m for m in vars(test).get("pytestmark", ()) if m.name == "parametrize"]
    for values in product(*(list(mark.args[1]) for mark in marks)):
        given: dict[str, object] = {}
        for mark, value in zip(marks, values, strict=True):
            names = mark.args[0]
            one = isinstance(names, str)
            given.update({names: value} if one else zip(names, value, strict=True))
        yield given
