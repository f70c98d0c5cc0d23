"""The models that are timed: two families at three sizes, as changes to a published `Config`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

import torch
from torch import Tensor

from specc.ir.model import Model
from specc.ir.parameters import parameters
from specc.ir.walk import resize
from specc.pipeline import read_model

ROOT = Path(__file__).resolve().parents[2]
GENERATED = ROOT / "generated"
SIZES = ("1M", "25M", "110M")
GPT2, LLAMA = "gpt2", "llama_3_2_1b"
FAMILIES = (GPT2, LLAMA)
SEED = 0
SPREAD = 0.02  # of random weights

Numbers = Mapping[str, int | float]

_LONG = {"max_seq_len": 1024}
_GPT2 = _LONG | {"dropout": 0.0}  # dropped features would differ from peer to peer
_LLAMA = _LONG | {"norm_eps": 1e-12}  # x-transformers knows no other eps
NUMBERS: Mapping[tuple[str, str], Numbers] = MappingProxyType(
    {
        (GPT2, "1M"): _GPT2
        | dict(vocab_size=2048, d_model=128, n_layers=4, n_heads=4, head_dim=32, d_ff=512),
        (GPT2, "25M"): _GPT2
        | dict(vocab_size=32000, d_model=384, n_layers=8, n_heads=6, head_dim=64, d_ff=1536),
        (GPT2, "110M"): _GPT2
        | dict(vocab_size=32000, d_model=768, n_layers=12, n_heads=12, head_dim=64, d_ff=3072),
        (LLAMA, "1M"): _LLAMA
        | dict(vocab_size=2048, d_model=128, n_layers=4, n_heads=4, head_dim=32, d_ff=384)
        | dict(n_kv_heads=2),
        (LLAMA, "25M"): _LLAMA
        | dict(vocab_size=32000, d_model=384, n_layers=8, n_heads=6, head_dim=64, d_ff=1152)
        | dict(n_kv_heads=2),
        (LLAMA, "110M"): _LLAMA
        | dict(vocab_size=32000, d_model=768, n_layers=12, n_heads=12, head_dim=64, d_ff=2304)
        | dict(n_kv_heads=4),
    }
)


@dataclass(frozen=True)
class Shape:
    """One family at one size, and the folder of its generated file."""

    family: str
    size: str
    folder: Path = GENERATED

    @property
    def numbers(self) -> Numbers:
        """What its `Config` holds in place of the paper's."""
        return NUMBERS[self.family, self.size]

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
