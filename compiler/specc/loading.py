"""A spec as a live Python module: the generated text is compiled in memory and executed, nothing is
written.

Its source is registered where tracebacks, `inspect` and `torch.compile` look for it.
"""

from __future__ import annotations

import linecache
import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

from specc.artifact import Artifact
from specc.ir import model as ir
from specc.pipeline import compile_fully


@dataclass(frozen=True)
class Loaded:
    """A generated module at work. `Model` is its main class, the last one in the file."""

    module: ModuleType
    Config: type[Any]
    Model: type[Any]
    model_ir: ir.Model


def load(path: str | Path) -> Loaded:
    """What `specc.load` does."""
    compilation = compile_fully(path)
    module = import_artifact(compilation.artifact)
    names = vars(module)
    return Loaded(module, names["Config"], names[compilation.model.class_name], compilation.model)


def import_artifact(artifact: Artifact) -> ModuleType:
    """Execute a generated text as a module of its own; equal texts give the same module."""
    digest = sha256(artifact.text.encode()).hexdigest()[:16]
    stem = artifact.path.removesuffix(".py")
    name = f"specc_loaded_{digest}_{stem}"
    if name in sys.modules:
        return sys.modules[name]
    file = f"<specc {stem} {digest}>"
    module = ModuleType(name)
    module.__file__ = file
    linecache.cache[file] = (len(artifact.text), None, artifact.text.splitlines(True), file)
    sys.modules[name] = module  # before execution: dataclasses look their module up
    try:
        exec(compile(artifact.text, file, "exec"), module.__dict__)  # noqa: S102  # our own text
    except BaseException:
        del sys.modules[name]
        raise
    return module
