"""How a model knows the order of its tokens: tables added at the input, or turns and biases inside
attention.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specc.ir.init import Init
from specc.ir.sizes import Constant, Size, Vector


class PositionIndex(Enum):
    """Which number a token's position is. Differs only where there is padding."""

    MASK = "mask"  # how many real tokens came before (0 for padding before them)
    ARANGE = "arange"  # its column, padding counted
    IDS = "ids"  # how many ids before it are not the padding id; a padding id itself counts as -1


class SinusoidLayout(Enum):
    """Where a table keeps its sines and its cosines."""

    INTERLEAVED = "interleaved"  # sin, cos, sin, cos, ... (Vaswani et al. 2017)
    CONCAT = "concat"  # all sines, then all cosines (tensor2tensor, Marian)


class SinusoidFrequency(Enum):
    """The exponent of 10000 for pair k of a table of width d."""

    TWO_K_OVER_D = "2k/d"
    K_OVER_HALF_MINUS_ONE = "k/(half-1)"


@dataclass(frozen=True)
class Sinusoidal:
    """A fixed table [size, width] added to the embeddings. An odd width has one sine more than
    cosines.
    """

    name: str
    size: Size
    width: Size
    layout: SinusoidLayout
    frequency: SinusoidFrequency
    index: PositionIndex


@dataclass(frozen=True)
class LearnedPosition:
    """A trained table [size + offset, width]; position p reads row p + offset (OPT and BART: 2)."""

    name: str
    size: Size
    width: Size
    offset: int
    index: PositionIndex
    pad_id: int | None  # what IDS does not count
    init: Init


class RotaryLayout(Enum):
    """Which two features turn together."""

    HALF = "half"  # i and i + r/2 (GPT-NeoX, Hugging Face Llama)
    INTERLEAVED = "interleaved"  # 2i and 2i + 1 (the paper, GPT-J)


@dataclass(frozen=True)
class LinearScaling:
    """All frequencies divided by factor."""

    factor: Constant


@dataclass(frozen=True)
class Llama3Scaling:
    """Long waves divided by factor, short waves kept, a blend between (Llama 3.1)."""

    factor: Constant
    low_freq_factor: Constant
    high_freq_factor: Constant
    original_max_seq_len: Size


@dataclass(frozen=True)
class DynamicScaling:
    """theta grows with the call: theta * (f S/M - (f - 1))^(r/(r-2)) for S > M tokens (NTK-aware).

    S is the cache's capacity, or without a cache the number of tokens of the call.
    """

    factor: Constant
    original_max_seq_len: Size


@dataclass(frozen=True)
class YarnScaling:
    """Long waves divided by factor, short ones kept, a ramp over pairs between (Peng et al. 2023).

    cos and sin are multiplied by `attention_factor`: what the spec gives, or what follows from
    factor and the two mscales (lowering works it out).
    """

    factor: Constant
    original_max_seq_len: Size
    beta_fast: Constant
    beta_slow: Constant
    attention_factor: Constant
    truncate: bool  # whether the ramp's ends are rounded to whole pairs


@dataclass(frozen=True)
class LongRopeScaling:
    """Each frequency divided by a factor of its own: long ones beyond the original length, else
    short.

    Which, is chosen for the cache's capacity, or without a cache for the number of tokens of the
    call. cos and sin are multiplied by `attention_factor` (Ding et al. 2024).
    """

    short_factors: Vector
    long_factors: Vector
    original_max_seq_len: Size
    attention_factor: Constant


@dataclass(frozen=True)
class ProportionalScaling:
    """theta^(-2i/head_dim) for the turned pairs i < rotary_dim/2; the other pairs have frequency 0.

    All head_dim features are split into pairs, so that pair i is (i, i + head_dim/2).
    """


RotaryScaling = (
    LinearScaling
    | Llama3Scaling
    | DynamicScaling
    | YarnScaling
    | LongRopeScaling
    | ProportionalScaling
)


class RotarySlice(Enum):
    """Which features of a head turn when not all do."""

    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True)
class Rotary:
    """Turn pairs of `rotary_dim` features of a head by position * theta^(-2i/rotary_dim) (Su et al.
    2021).
    """

    name: str
    size: Size
    head_dim: Size
    rotary_dim: Size  # the very head_dim when the whole head turns
    theta: Constant
    layout: RotaryLayout
    slice: RotarySlice
    scaling: RotaryScaling | None
    index: PositionIndex

    @property
    def is_partial(self) -> bool:
        """Whether some features of a head stay out of the pairs."""
        whole = self.rotary_dim.name == self.head_dim.name
        return not whole and not isinstance(self.scaling, ProportionalScaling)


@dataclass(frozen=True)
class Alibi:
    """slope_h * (key - query) is added to the scores of head h (Press et al. 2022).

    For n heads, a power of two, slope_h = 2^(-8h/n), h = 1..n. Else: the slopes of the power of two
    below n,
    then every other slope (1st, 3rd, ...) of the power of two above.
    """

    name: str
    n_heads: Size


InputPosition = Sinusoidal | LearnedPosition
AttentionPosition = Rotary | Alibi
