"""pytest's door to specc: `pytest specs/` runs every check on every spec.

Loaded by every run of pytest where specc is installed, so it imports nothing until a spec is found.
In a project ([tool.specc]) only YAML files of its specs folder count, and those that the command
line names itself; elsewhere all that pytest comes across.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

SUFFIXES = (".yaml", ".yml")
ENOUGH = 1 << 16  # bytes: the key stands near the top

_KEY = re.compile(
    rb"^(specc|\"specc\"|'specc')[ \t]*:|^\{[^#\n]*\bspecc[\"']?[ \t]*:", re.MULTILINE
)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A collector for a spec; None for any other file."""
    if file_path.suffix not in SUFFIXES or not _is_spec(file_path):
        return None
    if not _is_wanted(file_path, parent.config):
        return None
    from specc.verify.plugin import SpecFile

    return SpecFile.from_parent(parent, path=file_path)


def _is_spec(file: Path) -> bool:
    """Whether the file says `specc:` at the left edge, as a mapping with that key does."""
    try:
        with file.open("rb") as stream:
            return _KEY.search(stream.read(ENOUGH)) is not None
    except OSError:
        return False


def _is_wanted(file: Path, config: pytest.Config) -> bool:
    from specc.project import ProjectError, find_project

    try:
        project = find_project(file.parent)
    except ProjectError:
        return True  # the spec's item says what is wrong
    if project is None or file.is_relative_to(project.specs):
        return True
    here = config.invocation_params.dir
    named = (here / argument.partition("::")[0] for argument in config.args)
    return any(path.resolve() == file.resolve() for path in named)
