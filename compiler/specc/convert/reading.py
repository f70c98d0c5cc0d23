"""Safetensors files as one checkpoint: one file, or the shards that an index names.

Tensors are views of the mapped file: reading one costs no memory of its own. Files of any other
kind are refused by their content, pickles above all: reading one can run any code.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from torch import Tensor

from specc.convert.problems import ConvertError
from specc.weights.steps import Shape

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
MOST_INDEX = 1 << 26  # bytes; the largest published index has a tenth of that


@dataclass(frozen=True)
class Stored:
    """What a file's header says of one tensor."""

    shape: Shape
    dtype: str


@dataclass(frozen=True)
class Checkpoint:
    """All tensors of a source, while it is open."""

    files: tuple[Path, ...]
    stored: dict[str, Stored]
    holders: dict[str, Any]  # the open file of each tensor

    def tensor(self, name: str) -> Tensor:
        """The tensor of that name, as it is in the file."""
        found: Tensor = self.holders[name].get_tensor(name)
        return found

    @property
    def shapes(self) -> dict[str, Shape]:
        return {name: stored.shape for name, stored in self.stored.items()}


@contextmanager
def opened(source: Path) -> Iterator[Checkpoint]:
    """A source's tensors. Raises ConvertError."""
    files = tuple(_files(source))
    checkpoint = Checkpoint(files, {}, {})
    with ExitStack() as stack:
        for file in files:
            _read(file, stack, checkpoint)
        _check_index(source, set(checkpoint.stored))
        yield checkpoint


def _read(file: Path, stack: ExitStack, into: Checkpoint) -> None:
    _refuse_other_kinds(file)
    try:
        handle: Any = stack.enter_context(safe_open(str(file), "pt"))
    except SafetensorError as error:
        raise ConvertError(f"{file}: no whole safetensors file: {error}") from error
    except OSError as error:
        raise ConvertError(f"{file}: {error.strerror or error}") from error
    for name in handle.keys():  # noqa: SIM118  # no mapping
        if name in into.holders:
            raise ConvertError(f"{file}: {name} is in another shard too")
        part = handle.get_slice(name)
        into.holders[name] = handle
        into.stored[name] = Stored(tuple(part.get_shape()), str(part.get_dtype()))


def _files(source: Path) -> Iterator[Path]:
    """The files of a source: itself, the shards of its index, or what its folder holds."""
    if source.is_file():
        if source.name.endswith(".index.json"):
            yield from _shards(source)
        else:
            yield source
        return
    if not source.is_dir():
        raise ConvertError(f"{source}: no such file or folder")
    if (source / INDEX).is_file():
        yield from _shards(source / INDEX)
        return
    found = sorted(source.glob("*.safetensors"))
    if (source / SINGLE) in found:
        found = [source / SINGLE]
    if len(found) > 1:
        raise ConvertError(f"{source}: {len(found)} safetensors files, and no {INDEX}")
    if not found:
        pickles = sorted(p.name for p in source.iterdir() if p.suffix in PICKLES)
        raise ConvertError(
            _pickled(source / pickles[0])
            if pickles
            else f"{source}: no {SINGLE} and no {INDEX} in it"
        )
    yield found[0]


def _shards(index: Path) -> Iterator[Path]:
    files = sorted(set(_weight_map(index).values()))
    for name in files:
        file = index.parent / name
        if Path(name).name != name:
            raise ConvertError(f"{index}: {name} lies outside its folder")
        if not file.is_file():
            held = sum(value == name for value in _weight_map(index).values())
            raise ConvertError(f"{index}: shard {name} is missing ({held} tensors are in it)")
        yield file


def _weight_map(index: Path) -> Mapping[str, str]:
    try:
        if index.stat().st_size > MOST_INDEX:
            raise ConvertError(f"{index}: too large for an index")
        found = json.loads(index.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ConvertError(f"{index}: no index of shards: {error}") from error
    entries = found.get("weight_map") if isinstance(found, dict) else None
    if not isinstance(entries, dict) or not all(isinstance(v, str) for v in entries.values()):
        raise ConvertError(f"{index}: no index of shards: it has no weight_map of file names")
    return entries


def _check_index(source: Path, names: set[str]) -> None:
    index = source / INDEX if source.is_dir() else source
    if not index.is_file() or not index.name.endswith(".index.json"):
        return
    listed = _weight_map(index)
    for name in listed:
        if name not in names:
            raise ConvertError(f"{index}: {name} is not in its shard {listed[name]}")
    for name in sorted(names):
        if name not in listed:
            raise ConvertError(f"{index}: does not list {name}, which its shards hold")


def _refuse_other_kinds(file: Path) -> None:
    """By content, whatever the name: a pickle is never opened as one."""
    try:
        with file.open("rb") as stream:
            start = stream.read(16)
    except OSError as error:
        raise ConvertError(f"{file}: {error.strerror or error}") from error
    is_zip = start.startswith(b"PK\x03\x04")  # how torch.save packs its pickle
    is_pickle = start[:1] == b"\x80" and start[8:9] != b"{"
    if is_zip or is_pickle or (file.suffix in PICKLES and start[8:9] != b"{"):
        raise ConvertError(_pickled(file))


def _pickled(file: Path) -> str:
    return (
        f"{file}: a pickle, which can run any code when it is read: specc never reads one."
        " Ask for safetensors, or save it as such where you trust it"
    )
