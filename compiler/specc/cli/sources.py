"""Which specs a command line means, and where their files go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from specc.cli.failure import Failure
from specc.project import Project, ProjectError, find_project

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True)
class Folder:
    """Files go here under their own names."""

    path: Path


@dataclass(frozen=True)
class File:
    """The one file goes here."""

    path: Path


@dataclass(frozen=True)
class Stdout:
    """The one file is printed."""


Target = Folder | File | Stdout


@dataclass(frozen=True)
class Selection:
    """The specs, where they go, whether they are all that the target should hold, and whether
    their project wants test files and loaders.
    """

    specs: tuple[Path, ...]
    target: Target
    is_whole: bool
    wants_tests: bool = False
    wants_loader: bool = False


def select(arguments: Sequence[Path], output: str | None) -> Selection:
    """Resolve the arguments of build and check. Raises `Failure`."""
    try:
        specs = find_specs(arguments) if arguments else _project_specs()
        target = _target(output) if output is not None else _default_target(specs)
        projects = _projects(specs) if output is None else []
    except ProjectError as error:
        raise Failure(str(error)) from error
    if len(specs) > 1 and not isinstance(target, Folder):
        where = "-" if isinstance(target, Stdout) else str(target.path)
        raise Failure(f"-o {where} takes one spec, and there are {len(specs)}")
    return Selection(
        specs,
        target,
        not arguments,
        any(project.tests for project in projects),
        any(project.loader for project in projects),
    )


def find_specs(arguments: Sequence[Path]) -> tuple[Path, ...]:
    """The specs that the arguments name, each once. Raises `Failure`."""
    found: list[Path] = []
    for argument in arguments:
        if argument.is_dir():
            found += _specs_in(argument)
        elif argument.exists():
            found.append(argument)
        else:
            raise Failure(f"no such spec: {argument}{_hint(argument)}")
    return tuple(dict.fromkeys(found))


def _specs_in(folder: Path) -> list[Path]:
    specs = sorted(f for f in folder.iterdir() if f.suffix in SUFFIXES and f.is_file())
    if not specs:
        raise Failure(f"no spec (*.yaml) in {folder}")
    return specs


def _hint(missing: Path) -> str:
    if not missing.parent.is_dir():
        return ""
    names = [f.name for f in missing.parent.iterdir() if f.suffix in SUFFIXES]
    close = get_close_matches(missing.name, names, 1)
    return f". Did you mean {missing.with_name(close[0])}?" if close else ""


def _project_specs() -> tuple[Path, ...]:
    project = find_project(Path.cwd())
    if project is None:
        raise Failure("no spec given, and no pyproject.toml here or above has a table [tool.specc]")
    if not project.specs.is_dir():
        raise Failure(f"no folder {near(project.specs)}, which [tool.specc] names for specs")
    return tuple(_specs_in(near(project.specs)))


def _target(output: str) -> Target:
    if output == "-":
        return Stdout()
    path = Path(output)
    if path.is_dir() or not (path.suffix == ".py" or path.is_file()):
        return Folder(path)
    return File(path)


def _default_target(specs: Sequence[Path]) -> Target:
    """The output folder of the specs' project; without one, the working directory."""
    projects = {find_project(spec.parent) for spec in specs}
    if len(projects) > 1:
        raise Failure("the specs belong to several projects: say where the files go with -o DIR")
    (project,) = projects
    return Folder(near(project.output) if project else Path())


def _projects(specs: Sequence[Path]) -> list[Project]:
    """The projects that the specs belong to."""
    found = {find_project(spec.parent) for spec in specs}
    return [project for project in found if project is not None]


def near(path: Path) -> Path:
    """The path as seen from the working directory, when it lies below."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path
