"""Says of each file of a folder what a build would do to it. Writes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from specc.artifact import Artifact
from specc.emit.digits import same_but_for_rounding
from specc.emit.errors import EmitError
from specc.emit.stamp import is_untouched, stamp, unix


class State(Enum):
    """How a file on disk stands to the spec that it should come from."""

    UNCHANGED = "unchanged"
    MISSING = "missing"
    CHANGED = "changed"  # as specc wrote it, but the spec or specc has changed since
    HAND_EDITED = "edited by hand"
    FOREIGN = "not written by specc"
    ORPHAN = "orphan"  # no spec gives this file


@dataclass(frozen=True)
class Entry:
    """One file: what lies there (`old`), if anything, and what should (`new`), if anything."""

    file: Path
    state: State
    old: str | None
    new: str | None

    @property
    def is_protected(self) -> bool:
        """Whether a build would destroy what a person wrote."""
        return self.state in (State.HAND_EDITED, State.FOREIGN)


@dataclass(frozen=True)
class Plan:
    """All files of one output folder, in order of their names."""

    folder: Path
    entries: tuple[Entry, ...]

    @property
    def drift(self) -> tuple[Entry, ...]:
        """What is not as the specs say."""
        return tuple(e for e in self.entries if e.state is not State.UNCHANGED)


def plan(artifacts: Sequence[Artifact], folder: Path, *, orphans: bool = False) -> Plan:
    """Compare artifacts with a folder, which need not exist.

    With `orphans`, Python files there that no artifact gives count too (an `__init__.py` of one's
    own does not). Raises `EmitError` for two artifacts of one name, a name that leaves the folder,
    and what cannot be read.
    """
    _check_names(artifacts)
    entries = [_compare(artifact, folder / artifact.path) for artifact in artifacts]
    if orphans:
        entries += _orphans(folder, {artifact.path for artifact in artifacts})
    return Plan(folder, tuple(sorted(entries, key=lambda entry: entry.file.name)))


def _check_names(artifacts: Iterable[Artifact]) -> None:
    seen: dict[str, str] = {}
    for artifact in artifacts:
        name = artifact.path
        if name in ("", ".", "..") or Path(name).name != name or "\\" in name or "\0" in name:
            raise EmitError(f"{name!r} is no plain file name")
        if name.casefold() in seen:
            raise EmitError(f"two specs give the file {name}: names must differ, not only in case")
        seen[name.casefold()] = name


def _compare(artifact: Artifact, file: Path) -> Entry:
    old = read(file)
    if old is None:
        return Entry(file, State.MISSING, None, artifact.text)
    if _is_as_it_should_be(unix(old), artifact):
        state = State.UNCHANGED
    elif stamp(old) is None:
        state = State.FOREIGN
    else:
        state = State.CHANGED if is_untouched(old) else State.HAND_EDITED
    return Entry(file, state, old, artifact.text)


def _is_as_it_should_be(old: str, artifact: Artifact) -> bool:
    if old == artifact.text:
        return True
    return artifact.is_measured and same_but_for_rounding(old, artifact.text)


def _orphans(folder: Path, expected: set[str]) -> list[Entry]:
    try:
        files = sorted(folder.glob("*.py"))
    except OSError as error:
        raise EmitError(f"cannot read {folder}: {error.strerror}") from error
    found = [(file, read(file)) for file in files if file.name not in expected]
    return [
        Entry(file, State.ORPHAN, old, None)
        for file, old in found
        if old is not None and not (file.name == "__init__.py" and stamp(old) is None)
    ]


def read(file: Path) -> str | None:
    """A file's text with its line ends as they are; None without a file. Raises `EmitError`."""
    try:
        return file.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return None
    except IsADirectoryError as error:
        raise EmitError(f"{file} is a folder") from error
    except OSError as error:
        raise EmitError(f"cannot read {file}: {error.strerror}") from error
