"""Proves that a generated file means what its spec means: every check, on the very file.

The file under test is executed. It is compared with golden, the second meaning of the same spec.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

from specc.ir.model import Model
from specc.pipeline import compile_fully, read_model
from specc.verify.checks import ALL, COMPILING, Check
from specc.verify.checks.check import result, run_check
from specc.verify.loading import LoadError, loaded
from specc.verify.report import CheckResult, Report, Status, failed, not_applicable
from specc.verify.subject import Subject

__all__ = ["ALL", "COMPILING", "CheckResult", "Report", "Status", "verify", "verify_text"]


def verify(
    path: str | Path,
    file: str | Path | None = None,
    *,
    inductor: bool = False,
    only: Collection[str] | None = None,
) -> Report:
    """Check the file that the spec at `path` compiles to, or `file` in its place.

    `only` names the checks to run. Raises SpecError, OSError, and ValueError for an unknown check.
    """
    if file is None:
        compilation = compile_fully(path)
        model, text = compilation.model, compilation.artifact.text
    else:
        model = read_model(path)
        text = Path(file).read_bytes().decode("utf-8", "surrogateescape")
    return verify_text(model, text, str(path), inductor=inductor, only=only)


def verify_text(
    model: Model,
    text: str,
    spec: str,
    *,
    inductor: bool = False,
    only: Collection[str] | None = None,
) -> Report:
    """Check a text against a model. `spec` is what the report calls it."""
    checks = chosen(only)
    try:
        with quiet_torch(), loaded(text, model.name) as file:
            subject = Subject(model, file, inductor)
            return Report(spec, tuple(run_check(check, subject) for check in checks))
    except LoadError as error:
        return Report(spec, tuple(_unloaded(checks, str(error))))


def chosen(only: Collection[str] | None) -> tuple[Check, ...]:
    """The checks of these names in their usual order."""
    names = [check.name for check in ALL]
    unknown = [name for name in only or () if name not in names]
    if unknown:
        raise ValueError(f"no check {unknown[0]!r}; there are {', '.join(names)}")
    return tuple(check for check in ALL if only is None or check.name in only)


def _unloaded(checks: tuple[Check, ...], evidence: str) -> Iterator[CheckResult]:
    """The first check carries the evidence; the others had nothing to look at."""
    for i, check in enumerate(checks):
        outcome = failed(evidence) if i == 0 else not_applicable("the file does not load")
        yield result(check, outcome)


@contextmanager
def quiet_torch() -> Iterator[None]:
    """Logs and warnings are silent; random state and threads are the caller's again after.

    One thread: the tensors are tiny.
    """
    threads, level = torch.get_num_threads(), logging.root.manager.disable
    try:
        torch.set_num_threads(1)
        logging.disable(logging.CRITICAL)
        with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        torch.set_num_threads(threads)
        logging.disable(level)
