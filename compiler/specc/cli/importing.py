"""`specc import`: a published config as a spec that builds at once."""

from __future__ import annotations

import sys
from pathlib import Path

from specc.artifact import Artifact
from specc.cli.compiling import plan_for
from specc.cli.failure import Code, Failure
from specc.cli.out import say, say_bytes
from specc.cli.sources import File
from specc.diagnostics import Diagnostic, SpecError
from specc.emit import EmitError, write
from specc.importers import MOST_BYTES, Imported, import_config
from specc.pipeline import read_model

CONFIG = "config.json"


def import_spec(config: str, output: str | None, name: str | None, *, force: bool) -> Code:
    """Write the spec of a config to a file or to stdout. Raises `Failure` and `SpecError`."""
    data, source, folder = _read(config)
    imported = import_config(data, source, name, folder=folder)
    _hold_together(imported, source)
    if output is None or output == "-":
        say_bytes(imported.text)
        return Code.FINE
    file = Path(output)
    if file.is_dir():
        file = file / f"{imported.name}.yaml"
    _write(file, imported.text, force=force)
    return Code.FINE


def _read(config: str) -> tuple[bytes, str, str | None]:
    """The bytes, their name in messages, and the folder's name. Raises `Failure`."""
    if config == "-":
        return sys.stdin.buffer.read(MOST_BYTES), "<stdin>", None
    path = Path(config)
    if path.is_dir():
        path = path / CONFIG
        if not path.is_file():
            raise Failure(f"no {CONFIG} in {config}")
    elif not path.exists():
        raise Failure(f"no such config: {config}")
    with path.open("rb") as stream:
        data = stream.read(MOST_BYTES)
    folder = path.absolute().parent.name if path.name == CONFIG else path.stem
    return data, str(path), folder


def _hold_together(imported: Imported, source: str) -> None:
    """The spec must compile: what breaks a rule across fields is told by the keys it came from."""
    try:
        read_model(text=imported.text)
    except SpecError as error:
        found = [_by_key(each, imported) for each in error.diagnostics]
        raise SpecError(found, source) from None


def _by_key(problem: Diagnostic, imported: Imported) -> Diagnostic:
    steps = [str(step) for step in problem.path]
    paths = (".".join(steps[:end]) for end in range(len(steps), 0, -1))
    at = next((imported.keys[path] for path in paths if path in imported.keys), None)
    message = f"this config gives no model: {problem.message}"
    return Diagnostic(problem.path, message if at is None else f"{message} ({at})", problem.hint)


def _write(file: Path, text: str, *, force: bool) -> None:
    plan = plan_for([Artifact(file.name, text)], File(file), orphans=False)
    try:
        written = write(plan, force=force)
    except EmitError as error:
        raise Failure(str(error)) from error
    say(f"{'wrote' if written else 'as it was:'} {file}")
    if written:
        say(f"next: specc build {file}")
