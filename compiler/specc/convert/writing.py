"""A safetensors file written tensor by tensor, that is either whole or not there.

The header is known before the first number, so nothing is held back. Where the system has nameless
files (Linux), a process that is killed leaves nothing behind; elsewhere a temporary name beside the
target is removed on every error.
"""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path

import torch
from torch import Tensor

from specc.convert.problems import ConvertError
from specc.weights.steps import Shape

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
}
BYTES = {name: dtype.itemsize for name, dtype in DTYPES.items()}
DESCRIPTORS = "/proc/self/fd"
PIECE = 1 << 24  # bytes of one write


@dataclass(frozen=True)
class Planned:
    """A tensor that will be written."""

    name: str
    shape: Shape
    dtype: str

    @property
    def size(self) -> int:
        """In bytes."""
        return prod(self.shape) * BYTES[self.dtype]


class Writer:
    """Takes the planned tensors in their order."""

    def __init__(self, descriptor: int, planned: Sequence[Planned]) -> None:
        self._descriptor = descriptor
        self._planned = iter(planned)
        _write(descriptor, memoryview(header(planned)))

    def put(self, name: str, tensor: Tensor) -> int:
        """Write the next tensor; how many bytes it has. It must be the planned one."""
        wanted = next(self._planned)
        if wanted.name != name or wanted.shape != tuple(tensor.shape):
            raise ValueError(f"{name} {tuple(tensor.shape)} is not {wanted}")
        whole = tensor.detach().cpu().contiguous()
        size = whole.numel() * whole.element_size()
        if size != wanted.size:
            raise ValueError(f"{name}: {size} bytes are not {wanted.size}")
        if size:
            buffer = (ctypes.c_char * size).from_address(whole.data_ptr())
            _write(self._descriptor, memoryview(buffer).cast("B"))
        return size


def header(planned: Sequence[Planned]) -> bytes:
    """Its length in 8 bytes, then JSON, padded with spaces to whole 8 bytes."""
    entries: dict[str, object] = {"__metadata__": {"format": "pt"}}
    start = 0
    for each in planned:
        entries[each.name] = {
            "dtype": each.dtype,
            "shape": list(each.shape),
            "data_offsets": [start, start + each.size],
        }
        start += each.size
    text = json.dumps(entries, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


@contextmanager
def writing(target: Path, planned: Sequence[Planned]) -> Iterator[Writer]:
    """A writer whose file appears under its name when the `with` ends well. Raises ConvertError
    when the disk refuses.
    """
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with suppress(FileNotFoundError):
            temporary.unlink()
        descriptor, nameless = _open(target.parent, temporary)
        try:
            yield Writer(descriptor, planned)
            if nameless:
                _name(descriptor, temporary)
        finally:
            os.close(descriptor)
        temporary.replace(target)
    except OSError as error:
        raise ConvertError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()


def _open(folder: Path, temporary: Path) -> tuple[int, bool]:
    """A descriptor to write to, and whether its file has no name yet."""
    if hasattr(os, "O_TMPFILE") and Path(DESCRIPTORS).is_dir():
        with suppress(OSError):  # not on every file system
            return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666), True
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    return os.open(temporary, flags | vars(os).get("O_BINARY", 0), 0o666), False


def _name(descriptor: int, temporary: Path) -> None:
    """Give a nameless file its first name."""
    folder = os.open(DESCRIPTORS, os.O_RDONLY)
    try:
        # With a folder given, Python follows the link to the file; without, it would not.
        os.link(str(descriptor), temporary, src_dir_fd=folder, follow_symlinks=True)
    finally:
        os.close(folder)


def _write(descriptor: int, data: memoryview) -> None:
    while data:
        data = data[os.write(descriptor, data[:PIECE]) :]
