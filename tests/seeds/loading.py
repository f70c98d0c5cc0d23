"""What both files of this folder need: a spec's module, made once, and how close is equal."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import torch

from specc.loading import Loaded, load

SPECS = Path(__file__).resolve().parents[2] / "specs"
LIMITS = {torch.float64: 1e-12, torch.float32: 1e-6}  # of max|a - b| / max|b|


@cache
def loaded(name: str) -> Loaded:
    return load(SPECS / f"{name}.yaml")
