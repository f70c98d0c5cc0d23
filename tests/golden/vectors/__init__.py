"""Published numbers, one file each: what is given, what is expected, what known mistakes give."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True)
class Vector:
    given: dict[str, Any]
    expected: dict[str, Any]
    wrong: dict[str, Any]


def vector(name: str) -> Vector:
    """The vector of that id, such as "V01"."""
    text = (Path(__file__).parent / f"{name}.json").read_text(encoding="utf-8")
    found = json.loads(text)
    return Vector(found["given"], found["expected"], found["wrong"])


def tensor(values: Any, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.tensor(values, dtype=dtype)


def is_close(found: Any, values: Any, atol: float = 1e-12) -> bool:
    """Equal within atol and the 15 digits that the files keep."""
    a = found if isinstance(found, Tensor) else tensor(found)
    b = tensor(values)
    return a.shape == b.shape and torch.allclose(a.double(), b, rtol=1e-13, atol=atol)
