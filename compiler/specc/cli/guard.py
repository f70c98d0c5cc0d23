"""Runs the command line so that every error ends as one message and an exit code."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import traceback
from collections.abc import Sequence

from specc.cli.failure import Code, Failure
from specc.cli.out import complain
from specc.diagnostics import SpecError


def guarded(arguments: Sequence[str]) -> int:
    """Run one command line; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # an old terminal shows what it can
    code = _run(arguments)
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, such as `head`, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _run(arguments: Sequence[str]) -> int:
    try:
        return _dispatch(arguments)
    except SystemExit as stop:  # how typer ends: --help, wrong usage, a verb's own code
        return stop.code if isinstance(stop.code, int) else Code.FINE
    except KeyboardInterrupt:
        return Code.INTERRUPTED
    except BrokenPipeError:
        return Code.DRIFT
    except SpecError as error:
        complain(str(error))
        return Code.BAD_INPUT
    except Failure as failure:
        complain(f"error: {failure}")
        return failure.code
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        complain(f"error: {place}{error.strerror or error}")
        return Code.BAD_INPUT
    except Exception as error:  # noqa: BLE001  # the last line of defence
        complain(_report(error))
        return Code.INTERNAL


def _dispatch(arguments: Sequence[str]) -> int:
    from specc.cli.app import app

    app(args=list(arguments), prog_name="specc")
    return Code.FINE


def _report(error: Exception) -> str:
    """Write the traceback where it is out of the way; returns the one line that says so."""
    first = (str(error).splitlines() or [""])[0]
    what = f"internal error: {type(error).__name__}: {first}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="specc-report-", suffix=".txt", encoding="utf-8", delete=False
        ) as file:
            file.writelines(traceback.format_exception(error))
    except OSError:
        return f"{what} (and its report cannot be written)"
    return f"{what} (report: {file.name})"
