"""Where a project's specs and generated files lie: the table `[tool.specc]` of its pyproject.toml.

It gives absolute paths inside the project and refuses any other; it reads no spec.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDERS = {"specs": "specs", "output": "generated"}
FLAGS = ("tests", "loader")
KEYS = (*FOLDERS, *FLAGS)


class ProjectError(Exception):
    """A pyproject.toml that cannot be read or says something about specc that is not understood."""


@dataclass(frozen=True)
class Project:
    """The folder of the pyproject.toml, the two folders that it names, whether each generated
    file has a test file beside it, and whether it has a function that loads published weights.
    """

    root: Path
    specs: Path
    output: Path
    tests: bool = False
    loader: bool = False


def absolute(path: str | Path) -> Path:
    """The path from the root of the file system, without `..`; links are kept as they are."""
    return Path(os.path.abspath(path))  # noqa: PTH100  # Path.resolve would follow links


def find_project(start: str | Path) -> Project | None:
    """The nearest project at or above `start`. Raises `ProjectError`."""
    place = absolute(start)
    for folder in (place, *place.parents):
        table = _read_table(folder / "pyproject.toml")
        if table is not None:
            return _project(folder, table)
    return None


def shown_path(spec: str | Path) -> str:
    """A spec's path as generated files name it: from the project's root, else the file name."""
    place = absolute(spec)
    project = find_project(place.parent)
    return place.relative_to(project.root).as_posix() if project else place.name


def _read_table(file: Path) -> dict[str, Any] | None:
    try:
        text = file.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise ProjectError(f"cannot read {file}: {error}") from error
    if "tool.specc" not in text:
        return None
    try:
        tools = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        raise ProjectError(f"{file}: {error}") from error
    table = tools.get("specc")
    return table if isinstance(table, dict) else None


def _project(root: Path, table: dict[str, Any]) -> Project:
    for key in table:
        if key not in KEYS:
            close = get_close_matches(str(key), KEYS, 1)
            hint = f" Did you mean {close[0]}?" if close else ""
            known = "specs, output, tests and loader"
            raise ProjectError(
                f"{root / 'pyproject.toml'}: [tool.specc] knows {known}, not {key}.{hint}"
            )
    flags = {flag: table.get(flag, False) for flag in FLAGS}
    for flag, value in flags.items():
        if not isinstance(value, bool):
            raise ProjectError(
                f"{root / 'pyproject.toml'}: [tool.specc] {flag} must be true or false"
            )
    return Project(root, _folder(root, table, "specs"), _folder(root, table, "output"), **flags)


def _folder(root: Path, table: dict[str, Any], key: str) -> Path:
    value = table.get(key, FOLDERS[key])
    where = f"{root / 'pyproject.toml'}: [tool.specc] {key}"
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ProjectError(f"{where} must be the name of a folder")
    folder = absolute(root / value)
    if not folder.is_relative_to(root):
        raise ProjectError(f"{where} must lie inside the project, and {value} does not")
    return folder
