"""The models that are timed: two families at three sizes, as changes to a published `Config`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from specc.artifact import Artifact
from specc.ir.model import Model
from specc.ir.parameters import parameters
from specc.ir.walk import resize
from specc.loading import import_artifact
from specc.pipeline import read_model

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "generated"
SIZES = ("1M", "25M", "110M")
GPT2, LLAMA = "gpt2", "llama_3_2_1b"
FAMILIES = (GPT2, LLAMA)
SEED = 0
SPREAD = 0.02  # of random weights

Numbers = Mapping[str, int | float]

_COLUMNS = ("vocab_size", "d_model", "n_layers", "n_heads", "head_dim", "d_ff", "n_kv_heads")
_ROWS = {  # queries of GPT-2 have keys of their own: no seventh column
    (GPT2, "1M"): (2048, 128, 4, 4, 32, 512),
    (GPT2, "25M"): (32000, 384, 8, 6, 64, 1536),
    (GPT2, "110M"): (32000, 768, 12, 12, 64, 3072),
    (LLAMA, "1M"): (2048, 128, 4, 4, 32, 384, 2),
    (LLAMA, "25M"): (32000, 384, 8, 6, 64, 1152, 2),
    (LLAMA, "110M"): (32000, 768, 12, 12, 64, 2304, 4),
}
_MORE: Mapping[str, Numbers] = {
    GPT2: {"max_seq_len": 1024, "dropout": 0.0},  # what is dropped would differ
    LLAMA: {"max_seq_len": 1024, "norm_eps": 1e-12},  # x-transformers knows no other
}


def names_in(file: Path) -> dict[str, Any]:
    """What a generated file defines."""
    return vars(import_artifact(Artifact(file.name, file.read_text(encoding="utf-8"))))


@dataclass(frozen=True)
class Shape:
    """One family at one size, and the folder of its generated file."""

    family: str
    size: str
    folder: Path = GENERATED

    @property
    def numbers(self) -> Numbers:
        """What its `Config` holds in place of the paper's."""
        row = _ROWS[self.family, self.size]
        return {**_MORE[self.family], **dict(zip(_COLUMNS, row, strict=False))}

    def number(self, name: str) -> int:
        """One of the sizes."""
        return int(self.numbers[name])

    @cached_property
    def model(self) -> Model:
        """The resized model."""
        return resize(read_model(ROOT / "specs" / f"{self.family}.yaml"), dict(self.numbers))

    @property
    def file(self) -> Path:
        """The generated file."""
        return self.folder / f"{self.family}.py"

    @cached_property
    def weights(self) -> dict[str, Tensor]:
        """Ours by name, random: biases 0, norms 1, as x-transformers has no such biases."""
        torch.manual_seed(SEED)
        found: dict[str, Tensor] = {}
        for each in parameters(self.model):
            if each.path.endswith("norm.weight"):
                found[each.path] = torch.ones(each.shape)
            elif each.path.endswith("bias"):
                found[each.path] = torch.zeros(each.shape)
            else:
                found[each.path] = torch.randn(each.shape) * SPREAD
        return found
