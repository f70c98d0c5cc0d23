"""Safetensors files turned into ours or into published ones, one operation at a time.

All that can be wrong with names, shapes and dtypes is found in the headers, before anything is
read or written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from specc.convert.arithmetic import run_steps
from specc.convert.problems import ConvertError
from specc.convert.reading import SINGLE, Checkpoint, opened
from specc.convert.states import refuse_other, refuse_untied
from specc.convert.writing import BYTES, DTYPES, Planned, writing
from specc.ir.model import Model
from specc.weights import Fill, Layout, Move, Operation, Tie, WeightsError, operations
from specc.weights.match import Matched, match_ours, match_published
from specc.weights.problems import mixed_dtypes
from specc.weights.steps import Named, Step

Progress = Callable[[int, int], None]  # bytes written so far, and of all


@dataclass(frozen=True)
class Summary:
    """What a conversion did."""

    target: Path
    read: int  # tensors
    written: int
    size: int  # bytes of tensors written
    dropped: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Job:
    """Tensors of a file that become tensors of another; without any, one that is all `value`."""

    given: tuple[str, ...]
    made: tuple[Planned, ...]
    steps: tuple[Step, ...] = ()
    value: float = 0.0


def convert_to_ours(
    model: Model,
    layout: Layout,
    source: Path,
    target: Path,
    progress: Progress,
    *,
    force: bool = False,
) -> Summary:
    """A published checkpoint as the `state_dict` of the generated file.

    `force` overwrites a target. Raises ConvertError and WeightsError, and then leaves none.
    """
    steps = operations(model, layout)
    with opened(source) as checkpoint:
        file = _target(checkpoint, target, force)
        found = match_published(steps, layout, checkpoint.shapes)
        dropped = (*found.dropped, *_checked_ties(checkpoint, steps, found))
        jobs = _jobs(
            checkpoint,
            [
                (tuple(found.spelt[named.name] for named in move.theirs), move.ours, move.steps)
                for move in steps
                if isinstance(move, Move)
            ],
        )
        kind = jobs[0].made[0].dtype
        fills = [
            Job((), (Planned(op.ours.name, op.ours.shape, kind),), (), op.value)
            for op in steps
            if isinstance(op, Fill)
        ]
        return _run(checkpoint, [*jobs, *fills], file, progress, dropped)


def convert_to_published(
    model: Model,
    layout: Layout,
    source: Path,
    target: Path,
    progress: Progress,
    *,
    force: bool = False,
) -> Summary:
    """The other way. Raises the same."""
    steps = operations(model, layout)
    with opened(source) as checkpoint:
        file = _target(checkpoint, target, force)
        match_ours(steps, checkpoint.shapes)
        jobs = _jobs(
            checkpoint,
            [
                (tuple(named.name for named in move.ours), move.theirs, move.back)
                for move in steps
                if isinstance(move, Move)
            ],
        )
        return _run(checkpoint, jobs, file, progress, tuple(_unpublished(checkpoint, steps)))


def _jobs(
    checkpoint: Checkpoint,
    wanted: Sequence[tuple[tuple[str, ...], tuple[Named, ...], tuple[Step, ...]]],
) -> list[Job]:
    """One for each move. Raises WeightsError with all dtypes that are wrong."""
    jobs, problems = [], []
    for given, made, steps in wanted:
        dtypes = [checkpoint.stored[name].dtype for name in given]
        wrong = list(_wrong_dtypes(given, dtypes))
        problems += wrong
        if not wrong:
            planned = tuple(Planned(named.name, named.shape, dtypes[0]) for named in made)
            jobs.append(Job(given, planned, steps))
    if problems:
        raise WeightsError(problems)
    return jobs


def _wrong_dtypes(names: Sequence[str], dtypes: Sequence[str]) -> Iterator[str]:
    for name, dtype in zip(names, dtypes, strict=True):
        if dtype not in BYTES:
            yield f"{name}: dtype {dtype}, and weights are {', '.join(BYTES)}: dequantise it first"
    mixed = mixed_dtypes(names, dtypes)
    if mixed is not None:
        yield mixed


def _unpublished(checkpoint: Checkpoint, steps: Sequence[Operation]) -> Iterator[tuple[str, str]]:
    """Parameters of ours that no file holds, each checked."""
    for op in steps:
        if isinstance(op, Fill):
            name = op.ours.name
            refuse_other(name, checkpoint.tensor(name), op.value)
            yield name, f"{op.value:g} everywhere, and never published"


def _target(checkpoint: Checkpoint, target: Path, force: bool) -> Path:
    """The file to write: the target, or one in the folder that it is."""
    file = target / SINGLE if target.is_dir() else target
    if file.suffix != ".safetensors":
        raise ConvertError(f"{target}: the output is a .safetensors file, or a folder for one")
    if not file.parent.is_dir():
        raise ConvertError(f"{file.parent}: no such folder")
    if any(file.exists() and file.samefile(each) for each in checkpoint.files):
        raise ConvertError(f"{file}: is the source itself")
    if file.exists() and not force:
        raise ConvertError(f"{file}: is there already: move it, or say --force")
    return file


def _checked_ties(
    checkpoint: Checkpoint, steps: Sequence[Operation], found: Matched
) -> Iterator[tuple[str, str]]:
    """Copies that the file holds, each compared with what it repeats."""
    for op in steps:
        if isinstance(op, Tie) and op.theirs in found.spelt:
            name, of = found.spelt[op.theirs], found.spelt[op.of]
            refuse_untied(name, checkpoint.tensor(name), of, checkpoint.tensor(of))
            yield name, f"the same as {of}"


def _run(
    checkpoint: Checkpoint,
    jobs: Sequence[Job],
    target: Path,
    progress: Progress,
    dropped: tuple[tuple[str, str], ...],
) -> Summary:
    # Wide dtypes first: every tensor then starts at a multiple of its numbers' size.
    ordered = sorted(jobs, key=lambda job: -BYTES[job.made[0].dtype])
    planned = [made for job in ordered for made in job.made]
    size, done = sum(each.size for each in planned), 0
    with writing(target, planned) as writer:
        for job in ordered:
            tensors = _made(checkpoint, job)
            for made in job.made:
                done += writer.put(made.name, tensors.pop(0))  # and let go of it
                progress(done, size)
    read = sum(len(job.given) for job in jobs)
    return Summary(target, read, len(planned), size, dropped)


def _made(checkpoint: Checkpoint, job: Job) -> list[Tensor]:
    if job.given:
        return run_steps(job.steps, [checkpoint.tensor(name) for name in job.given])
    (only,) = job.made
    return [torch.full(only.shape, job.value, dtype=DTYPES[only.dtype])]
