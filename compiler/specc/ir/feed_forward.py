"""The position-wise part of a block."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.layers import Activation, Dropout, Linear
from specc.ir.sizes import Size


@dataclass(frozen=True)
class Mlp:
    """down(activation(up(x)))."""

    d_model: Size
    d_ff: Size
    activation: Activation
    up: Linear
    down: Linear
    hidden_dropout: Dropout | None
    output_dropout: Dropout | None


@dataclass(frozen=True)
class Glu:
    """down(activation(gate(x)) * up(x)) (Shazeer 2020)."""

    d_model: Size
    d_ff: Size
    activation: Activation
    gate: Linear
    up: Linear
    down: Linear
    hidden_dropout: Dropout | None
    output_dropout: Dropout | None


FeedForward = Mlp | Glu
