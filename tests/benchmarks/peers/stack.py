"""torch.nn's own encoder with a causal mask, between an embedding and its transpose.

It imports torch alone, so that a fresh process is timed with nothing else.
"""

from __future__ import annotations

from functools import partial

import torch.nn.functional as F
from torch import Tensor, nn


class Stack(nn.Module):
    """`nn.TransformerEncoder` as a language model with learned positions."""

    def __init__(self, rows: int, places: int, width: int, layers: int, heads: int, d_ff: int):
        super().__init__()
        self.embedding = nn.Embedding(rows, width)
        self.position_embedding = nn.Embedding(places, width)
        layer = nn.TransformerEncoderLayer(
            width,
            heads,
            d_ff,
            dropout=0.0,
            activation=partial(F.gelu, approximate="tanh"),
            batch_first=True,
            norm_first=True,
        )
        norm = nn.LayerNorm(width)
        self.encoder = nn.TransformerEncoder(layer, layers, norm, enable_nested_tensor=False)

    def forward(self, tokens: Tensor) -> Tensor:
        length = tokens.size(1)
        x = self.embedding(tokens) + self.position_embedding.weight[:length]
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        return F.linear(self.encoder(x, mask=mask, is_causal=True), self.embedding.weight)
