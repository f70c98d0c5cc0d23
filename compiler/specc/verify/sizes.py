"""A reduced size for any model: small, all sizes different, and every layer type in it.

The result maps `Config` names to integers; constants stay, so that a wrong one shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from math import pi, sqrt

from specc.ir.attention import (
    Attention,
    Chunk,
    InverseSqrt,
    LatentAttention,
    LowRank,
    PositionTemperature,
    Window,
)
from specc.ir.block import Embedding, FeatureInput, Segment, Stack, TokenInput
from specc.ir.feed_forward import FeedForward, Glu, MixtureOfExperts, Mlp
from specc.ir.heads import ClassifierHead, LanguageModelHead
from specc.ir.model import Model
from specc.ir.positions import (
    DynamicScaling,
    LearnedPosition,
    Llama3Scaling,
    LongRopeScaling,
    Rotary,
    Sinusoidal,
    YarnScaling,
)
from specc.ir.sizes import Size
from specc.ir.walk import config_fields, walk

VOCABULARY = (37, 43, 47)
MAX_LENGTH = (31, 33, 35)
D_MODEL = (22, 26, 34)
N_HEADS = (6, 12, 18)
N_KV_HEADS = (3, 2)
HEAD_DIM = (10, 14, 18)
ROTARY_DIM = (4, 8, 6)
D_FF = (28, 32, 38, 46)
NOPE_DIM = (14, 22)
VALUE_DIM = (16, 26)
KV_RANK = (34, 38)
Q_RANK = (44, 46)
REACH = (4, 5)  # windows and chunks, shorter than the inputs
SHORT_LENGTH = (5, 7)
FLOOR = 2.0
N_TYPES = (7,)
N_CLASSES = (11, 13, 17)
SCALE_WIDTH = (19, 23)
# Few enough for the inputs to reach every expert, in groups of which 2 hold enough.
N_EXPERTS = (9, 15, 21)
N_GROUPS = 3
MOST_CHOSEN = 3
MOST_GROUPS_KEPT = 2


class _Claims:
    """Names that have a value already. Unused odd numbers follow when a pool runs dry."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.spare = count(49, 2)

    def claim(self, size: Size, pool: tuple[int, ...]) -> None:
        if size.name in self.values:
            return
        used = set(self.values.values())
        free = (value for value in pool if value not in used)
        self.values[size.name] = next(free, None) or next(self.spare)


def reduced_sizes(model: Model) -> dict[str, int]:
    """A value for every integer of the model, for `ir.walk.resize` and for `Config(**values)`."""
    claims = _Claims()
    parts = tuple(walk(model.stacks + model.heads))
    for head in model.heads:
        if isinstance(head, LanguageModelHead) and head.vocab_size is not None:
            claims.claim(head.vocab_size, VOCABULARY)  # fewer than the rows, which come next
    for part in parts:
        _claim_widths(claims, part)
    for stack in model.stacks:
        _claim_layers(claims, stack)
    for part in parts:
        if isinstance(part, Rotary):
            _claim_original(claims, part)
    for field in config_fields(model):
        if isinstance(field, Size):
            claims.claim(field, ())
    return claims.values


def _claim_widths(claims: _Claims, part: object) -> None:
    match part:
        case Attention():
            claims.claim(part.d_model, D_MODEL)
            claims.claim(part.n_heads, N_HEADS)
            claims.claim(part.n_kv_heads, (1,) if part.n_kv_heads.value == 1 else N_KV_HEADS)
            claims.claim(part.head_dim, HEAD_DIM)
        case InverseSqrt():
            claims.claim(part.width, SCALE_WIDTH)
        case Rotary():
            claims.claim(part.size, MAX_LENGTH)
            claims.claim(part.head_dim, HEAD_DIM)
            claims.claim(part.rotary_dim, ROTARY_DIM)
        case Mlp() | Glu() | MixtureOfExperts():
            _claim_hidden(claims, part)
        case TokenInput():
            claims.claim(part.embedding.rows, VOCABULARY)
            if part.types is not None:
                claims.claim(part.types.rows, N_TYPES)
        case Embedding() | FeatureInput():
            claims.claim(part.width if isinstance(part, Embedding) else part.d_model, D_MODEL)
        case Sinusoidal() | LearnedPosition():
            claims.claim(part.size, MAX_LENGTH)
        case ClassifierHead():
            claims.claim(part.n_classes, N_CLASSES)
        case _:
            _claim_reach(claims, part)


def _claim_reach(claims: _Claims, part: object) -> None:
    match part:
        case LatentAttention():
            _claim_latent(claims, part)
        case Window() | Chunk():
            claims.claim(part.size, REACH)
        case _:
            pass


def _claim_latent(claims: _Claims, part: LatentAttention) -> None:
    claims.claim(part.d_model, D_MODEL)
    claims.claim(part.n_heads, N_HEADS)
    claims.claim(part.nope_dim, NOPE_DIM)
    claims.claim(part.rotary_dim, ROTARY_DIM)
    claims.claim(part.value_dim, VALUE_DIM)
    claims.claim(part.kv_rank, KV_RANK)
    if isinstance(part.q, LowRank):
        for size in part.q.down.outputs.sizes:
            claims.claim(size, Q_RANK)


def _claim_original(claims: _Claims, part: Rotary) -> None:
    """An original length that the scaling is felt with at few tokens and few pairs."""
    match part.scaling:
        case Llama3Scaling(original_max_seq_len=original) as scaling:
            claims.values[original.name] = _original_length(part, scaling, claims.values)
        case DynamicScaling(original_max_seq_len=original):
            claims.claim(original, SHORT_LENGTH)
        case LongRopeScaling(original_max_seq_len=original):
            claims.claim(original, SHORT_LENGTH)
        case YarnScaling(original_max_seq_len=original):
            claims.values.setdefault(original.name, original.value)
        case _:
            pass


def reduced_numbers(model: Model, sizes: Mapping[str, int]) -> dict[str, float | tuple[float, ...]]:
    """Other numbers that must shrink with the sizes: factors for pairs that are left, and a floor
    of positions that few tokens reach.
    """
    found: dict[str, float | tuple[float, ...]] = {}
    for part in walk(model.stacks):
        if isinstance(part, Rotary) and isinstance(part.scaling, LongRopeScaling):
            pairs = sizes[part.rotary_dim.name] // 2
            for vector in (part.scaling.short_factors, part.scaling.long_factors):
                values = vector.values
                found[vector.name] = tuple(values[i % len(values)] for i in range(pairs))
        if isinstance(part, PositionTemperature):
            found[part.floor.name] = min(part.floor.value, FLOOR)
    return found


def _claim_hidden(claims: _Claims, part: FeedForward) -> None:
    if not isinstance(part, MixtureOfExperts):
        claims.claim(part.d_ff, D_FF)
        return
    router, groups = part.router, part.router.groups
    claims.claim(part.experts.d_ff, D_FF)
    claims.claim(router.n_experts, N_EXPERTS)
    claims.values[router.top_k.name] = min(router.top_k.value, MOST_CHOSEN)
    if groups is not None:
        claims.values[groups.n_groups.name] = N_GROUPS
        claims.values[groups.n_kept.name] = min(groups.n_kept.value, MOST_GROUPS_KEPT)


def _claim_layers(claims: _Claims, stack: Stack) -> None:
    """Two layers of a lone type; of a pattern, once through and the first type again."""
    for segment in stack.segments:
        size = segment.n_layers
        wanted = _layers_wanted(segment)
        taken = {v for n, v in claims.values.items() if n.startswith("n_") and n.endswith("layers")}
        while size.name not in claims.values and wanted in taken:
            wanted += 1
        claims.values[size.name] = max(wanted, claims.values.get(size.name, 0))


def _layers_wanted(segment: Segment) -> int:
    return len(segment.cycle) + 1


def _original_length(rotary: Rotary, scaling: Llama3Scaling, values: dict[str, int]) -> int:
    """A length that puts the second wave between the long and the short ones."""
    width = values[rotary.rotary_dim.name]
    pair = min(1, width // 2 - 1)
    wave = 2 * pi * float(rotary.theta.value ** (2 * pair / width))
    return max(
        2, round(wave * sqrt(scaling.low_freq_factor.value * scaling.high_freq_factor.value))
    )
