"""Writes a plan without leaving half of anything behind.

All new texts are first laid beside their targets under temporary names, which is where a full or a
read-only disk shows, and only then moved over them, one atomic step each. A file that is already
right is not touched at all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from specc.emit.errors import EmitError
from specc.emit.plan import Entry, Plan, State


def write(plan: Plan, *, force: bool = False) -> tuple[Entry, ...]:
    """Write what is missing or changed, and return it. Orphans stay.

    Raises `EmitError`, with no file changed, when one was edited by hand or is not specc's own
    (`force` overwrites those too), or when the disk refuses.
    """
    wanted = [e for e in plan.entries if e.new is not None and e.state is not State.UNCHANGED]
    if not force:
        _refuse_protected(wanted)
    made = _make_folder(plan.folder) if wanted else []
    staged: list[tuple[Path, Path]] = []
    try:
        for entry in wanted:
            _stage(entry, staged)
        for temporary, file in staged:
            temporary.replace(file)
    except OSError as error:
        _undo(staged, made)
        raise EmitError(f"cannot write to {plan.folder}: {error.strerror or error}") from error
    except BaseException:  # Ctrl-C between two files
        _undo(staged, made)
        raise
    return tuple(wanted)


def _refuse_protected(entries: Iterable[Entry]) -> None:
    protected = [f"{e.file} ({e.state.value})" for e in entries if e.is_protected]
    if protected:
        raise EmitError(f"will not overwrite {', '.join(protected)}: move it, or say --force")


def _make_folder(folder: Path) -> list[Path]:
    """Create the folder and those above it; returns what was new, innermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        _undo([], missing)
        raise EmitError(f"cannot make the folder {folder}: {error.strerror}") from error
    return missing


def _stage(entry: Entry, staged: list[tuple[Path, Path]]) -> None:
    temporary = entry.file.with_name(f".{entry.file.name}.{os.getpid()}.tmp")
    staged.append((temporary, entry.file))
    temporary.unlink(missing_ok=True)
    with temporary.open("x", encoding="utf-8", newline="\n") as stream:
        stream.write(entry.new or "")
    if entry.file.exists():
        shutil.copymode(entry.file, temporary)


def _undo(staged: Iterable[tuple[Path, Path]], made: Iterable[Path]) -> None:
    for temporary, _ in staged:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    for folder in made:
        with suppress(OSError):
            folder.rmdir()
