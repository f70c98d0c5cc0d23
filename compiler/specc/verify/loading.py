"""Runs the text of a generated file as a module, off disk, and finds its two entry points.

It is registered in `sys.modules` while it is used: dataclasses and dynamo look it up there.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from types import ModuleType

from torch import nn

LONGEST = 240  # characters of a message

_numbers = count()


class LoadError(Exception):
    """The text is no Python, does not import, or has no `Config` or main class."""


@dataclass(frozen=True)
class LoadedFile:
    """A generated file as a live module. `model_class` is the last class in the text."""

    text: str
    module: ModuleType
    config_class: type
    model_class: type[nn.Module]


@contextmanager
def loaded(text: str, name: str, given: Mapping[str, object] | None = None) -> Iterator[LoadedFile]:
    """The file as a module for as long as the context lasts. Raises LoadError.

    `given` are globals that it starts with.
    """
    module_name = f"specc_verified_{name}_{next(_numbers)}"
    filename = f"<{module_name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = ModuleType(module_name)
    module.__file__ = filename
    module.__dict__.update(given or {})
    sys.modules[module_name] = module
    try:
        yield _execute(text, module, filename)
    finally:
        del sys.modules[module_name]
        linecache.cache.pop(filename, None)


def _execute(text: str, module: ModuleType, filename: str) -> LoadedFile:
    try:
        tree = ast.parse(text, filename)
        exec(compile(text, filename, "exec"), module.__dict__)  # noqa: S102  # the file under test
    except Exception as error:  # it may raise anything
        raise LoadError(describe(error, filename)) from error
    if "LARGE" in module.__dict__:
        module.__dict__["LARGE"] = 0  # the weights of a tiny model go the way of large ones
    names = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    if "Config" not in names:
        raise LoadError("the file has no class Config")
    model_class = module.__dict__[names[-1]]
    if not issubclass(model_class, nn.Module):
        raise LoadError(f"the last class, {names[-1]}, is no nn.Module")
    return LoadedFile(text, module, module.__dict__["Config"], model_class)


def describe(error: BaseException, filename: str) -> str:
    """One line: the error, its message, and the line of the file that raised it."""
    message = " ".join(str(error.msg if isinstance(error, SyntaxError) else error).split())
    if len(message) > LONGEST:
        message = f"{message[:LONGEST]}..."
    text = f"{type(error).__name__}: {message}".rstrip(": ")
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    if isinstance(error, SyntaxError):
        line = error.lineno
    return text if line is None else f"{text} (line {line} of the file)"
