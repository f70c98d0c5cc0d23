"""Compiles the specs of a verb: all errors are shown in one run, and one stops everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from specc.artifact import Artifact
from specc.cli.failure import Failure
from specc.cli.out import complain
from specc.cli.sources import File, Folder
from specc.diagnostics import SpecError
from specc.emit import EmitError, Plan, plan
from specc.pipeline import Compilation, compile_fully

if TYPE_CHECKING:
    from specc.weights import Layout


def compile_all(
    specs: Sequence[Path], *, strict: bool, with_loader: bool = False
) -> tuple[Compilation, ...]:
    """One compilation a spec. Raises `SpecError`, or `Failure` when it has shown several."""
    layouts = _layouts() if with_loader else None
    compilations: dict[Path, Compilation] = {}
    bad: list[SpecError] = []
    for spec in specs:
        try:
            compilations[spec] = (
                compile_fully(spec, strict=strict)
                if layouts is None
                else _with_loader(spec, layouts, strict=strict)
            )
        except SpecError as error:  # noqa: PERF203  # the point of the loop
            bad.append(error)
    if bad and len(specs) == 1:
        raise bad[0]
    if bad:
        for each in bad:
            complain(str(each))
        raise Failure(f"{len(bad)} of {len(specs)} specs do not compile")
    _refuse_twins(compilations)
    return tuple(compilations.values())


def _layouts() -> Mapping[str, Layout]:
    from specc.importers.layouts import LAYOUTS

    return LAYOUTS


def _with_loader(spec: Path, layouts: Mapping[str, Layout], *, strict: bool) -> Compilation:
    from specc.render.loader import LoaderError
    from specc.weights import WeightsError

    try:
        found = compile_fully(spec, strict=strict, layouts=layouts)
    except (LoaderError, WeightsError) as error:
        raise Failure(f"{spec}: no loader: {error}; specc convert can do more") from error
    if found.model.layout is None:
        complain(f"{spec} has no source.layout: its file has no loader")
    return found


def plan_for(artifacts: Sequence[Artifact], target: Folder | File, *, orphans: bool) -> Plan:
    """Compare with what lies at the target. Raises `Failure`."""
    try:
        if isinstance(target, File):
            model, *tests = artifacts
            renamed = replace(model, path=target.path.name)
            return plan([renamed, *tests], target.path.parent)
        return plan(artifacts, target.path, orphans=orphans)
    except EmitError as error:
        raise Failure(str(error)) from error


def _refuse_twins(compilations: dict[Path, Compilation]) -> None:
    seen: dict[str, Path] = {}
    for spec, compilation in compilations.items():
        path = compilation.artifact.path
        twin = seen.setdefault(path.casefold(), spec)
        if twin != spec:
            raise Failure(f"{twin} and {spec} both give {path}: change the name in one of them")
