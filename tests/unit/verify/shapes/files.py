"""A small model file such as a person might write, whose shape comments are true."""

from functools import cache
from pathlib import Path

from specc.pipeline import compile_spec
from specc.verify.shapes import Observed, examine

ROOT = Path(__file__).resolve().parents[4]
SPECS = sorted((ROOT / "specs").glob("*.yaml"))

TRUE = '''"""A decoder.

Shapes      B batch              T new tokens         D model width
            H query heads        E head width         V vocabulary
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Config:
    vocab_size: int = 50_000  # "[B, T]" is how the paper writes it
    d_model: int = 768
    n_heads: int = 12
    head_dim: int = 64


class Output(NamedTuple):
    logits: Tensor  # [B, T, V]
    weights: Tensor | None  # [B, T, T]
    parts: tuple[Tensor, ...]  # [B, T, D] each


def split(x: Tensor, heads: int) -> Tensor:
    """Split: [B, T, H*E] -> [B, H, T, E]."""
    if x.dim() != 3:
        wrong = x  # [B, T]
        raise ValueError(f"{wrong.dim()} axes")
    return x.unflatten(2, (heads, -1)).transpose(1, 2)


class Model(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads = config.n_heads
        width = config.n_heads * config.head_dim
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.query = nn.Linear(config.d_model, width)
        self.scale = torch.ones(config.head_dim // 2)  # [E/2]
        self.out = nn.Linear(config.d_model, config.vocab_size)

    def forward(
        self,
        tokens: Tensor,  # [B, T]
        token_mask: Tensor | None = None,  # [B, T], True = real
    ) -> Output:
        x = self.embedding(tokens)  # [B, T, D]
        q = split(self.query(x), self.heads)  # [B, H, T, E]
        first, second = q.chunk(2, dim=-1)  # 2 x [B, H, T, E/2]
        one, flag = first[:, 0], True  # [B, T, E/2]
        place = torch.arange(tokens.size(1))  # [T]
        if token_mask is not None:
            place = token_mask.cumsum(1)  # [B, T]
        both = place  # [T] or [B, T]
        scores = q @ q.mT  # [B, H, T, T]
        return Output(self.out(x), scores.mean(1) if both.dim() == 2 else None, (x, x))
'''


@cache
def generated(spec: Path) -> str:
    """A spec's generated file."""
    return compile_spec(spec).text


@cache
def observed(spec: Path) -> Observed:
    """The same after its runs."""
    return examine(generated(spec))
