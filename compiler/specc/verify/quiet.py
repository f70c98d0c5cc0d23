"""Factors on stress weights that bring what every norm reads close to sqrt(eps), where eps decides.

The residual stream is kept at a level s = sqrt(eps): embeddings, output projections and the gains
of norms that write to it shrink to s; what reads it without a norm grows by 1 / s. A sinusoidal
table cannot shrink, so a pre-norm stream that holds one stays at 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import sqrt

import torch
from torch import Tensor

from specc.ir.attention import (
    Attention,
    AttentionSource,
    FusedProjection,
    LatentAttention,
    LowRank,
    QkL2Norm,
    QkNorm,
    SeparateProjections,
)
from specc.ir.block import Embedding, EmbeddingScale, FeatureInput, Stack, Sublayer, TokenInput
from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import FeedForward, Glu, MixtureOfExperts, Mlp
from specc.ir.heads import (
    ClassifierHead,
    FeaturesHead,
    Head,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Tied,
)
from specc.ir.layers import LayerNorm, Linear, Norm, NormWeight
from specc.ir.model import Model
from specc.ir.positions import LearnedPosition, Sinusoidal

Factor = float | Tensor


@dataclass
class Scaling:
    """Factors by path; gains that are stored as 1 + w stand in `one_plus`."""

    factors: dict[str, Factor] = field(default_factory=dict)
    one_plus: dict[str, float] = field(default_factory=dict)

    def linear(self, part: Linear, prefix: str, weight: Factor, bias: Factor) -> None:
        """Scale a linear map's weight and its bias, if it has one."""
        self.factors[f"{prefix}{part.name}.weight"] = weight
        if part.bias:
            self.factors[f"{prefix}{part.name}.bias"] = bias

    def norm(self, part: Norm | None, prefix: str, gain: float) -> None:
        """Scale what a norm gives."""
        if part is None:
            return
        path = f"{prefix}{part.name}.weight"
        if part.weight is NormWeight.ONE_PLUS:
            self.one_plus[path] = gain
        elif part.weight is NormWeight.PLAIN:
            self.factors[path] = gain
        if isinstance(part, LayerNorm) and part.bias:
            self.factors[f"{prefix}{part.name}.bias"] = gain


def stream_level(stack: Stack) -> float:
    """s of one stack: sqrt(eps) of its first norm; 1 where there is none."""
    for layer in stack.layer_types:
        for sublayer in layer.block.sublayers:
            for norm in (sublayer.pre, sublayer.out, sublayer.post):
                if norm is not None:
                    return sqrt(norm.eps.value)
    return 1.0 if stack.final_norm is None else sqrt(stack.final_norm.eps.value)


def quiet_scaling(model: Model) -> Scaling:
    """The factors for all parameters of the model that need one."""
    scaling = Scaling()
    memory = 1.0
    for stack in model.stacks:
        memory = _stack(scaling, stack, memory)
    for head in model.heads:
        _head(scaling, head, memory)
    return scaling


def _stack(scaling: Scaling, stack: Stack, memory: float) -> float:
    """Scale one stack; gives the level of its output."""
    s = stream_level(stack)
    level = _input(scaling, stack.input, s)
    for i, layer in enumerate(stack.layers):
        prefix = f"{stack.layers_name}.{i}."
        for sublayer in layer.block.sublayers:
            level = _sublayer(scaling, sublayer, prefix, (s, level, memory))
    return level if stack.final_norm is None else 1.0


def _input(scaling: Scaling, part: TokenInput | FeatureInput, s: float) -> float:
    """Scale the tables; gives the level of what enters the first layer."""
    if isinstance(part, FeatureInput):
        return s
    level = s if part.norm is None else sqrt(part.norm.eps.value)
    spread = level * sqrt(part.embedding.width.value)
    match part.scale:
        case EmbeddingScale.ONE:
            scale = 1.0
        case EmbeddingScale.SQRT_WIDTH:
            scale = sqrt(part.embedding.width.value)
        case constant:
            scale = constant.value
    scaling.factors[f"{part.embedding.name}.weight"] = spread / scale
    if part.types is not None:
        scaling.factors[f"{part.types.name}.weight"] = spread
    if isinstance(part.position, LearnedPosition):
        scaling.factors[f"{part.position.name}.weight"] = spread
    scaling.norm(part.norm, "", s)
    return 1.0 if part.norm is None and isinstance(part.position, Sinusoidal) else s


def _sublayer(
    scaling: Scaling, sublayer: Sublayer, prefix: str, levels: tuple[float, float, float]
) -> float:
    """Scale one sublayer; gives the level of the stream behind it."""
    s, level, memory = levels
    reads = level if sublayer.pre is None else 1.0
    gives = s if sublayer.post is None else sqrt(sublayer.post.eps.value)
    body_prefix = f"{prefix}{sublayer.name}."
    body = sublayer.body
    if isinstance(body, Attention):
        keys = reads if body.source is AttentionSource.SELF else memory
        _attention(scaling, body, body_prefix, (reads, keys, gives))
    elif isinstance(body, LatentAttention):
        _latent(scaling, body, body_prefix, reads, gives)
    else:
        _feed_forward(scaling, body, body_prefix, reads, gives)
    scaling.norm(sublayer.post, prefix, s)
    scaling.norm(sublayer.out, prefix, s)
    return level if sublayer.out is None else s


def _attention(
    scaling: Scaling, part: Attention, prefix: str, levels: tuple[float, float, float]
) -> None:
    queries, keys, gives = levels
    match part.qk_norm:
        case QkNorm(_, _, q_norm, k_norm):
            q_level, k_level = sqrt(q_norm.eps.value), sqrt(k_norm.eps.value)
        case QkL2Norm(eps):
            q_level = k_level = eps.value / sqrt(part.head_dim.value)
        case None:
            q_level = k_level = 1.0
        case _:
            assert_never(part.qk_norm)
    match part.projections:
        case SeparateProjections(q, k, v):
            scaling.linear(q, prefix, q_level / queries, q_level)
            scaling.linear(k, prefix, k_level / keys, k_level)
            scaling.linear(v, prefix, 1 / keys, 1.0)
        case FusedProjection(qkv):
            rows = _fused_rows(part, q_level, k_level)
            scaling.linear(qkv, prefix, rows[:, None] / queries, rows)
        case _:
            assert_never(part.projections)
    scaling.linear(part.output, prefix, gives, gives)


def _latent(
    scaling: Scaling, part: LatentAttention, prefix: str, reads: float, gives: float
) -> None:
    """Latents near the eps of their norms; what unfolds from them has size 1."""
    level = sqrt(part.kv_norm.eps.value)
    scaling.linear(part.kv_down, prefix, level / reads, level)
    scaling.linear(part.kv_up, prefix, 1.0, 1.0)
    match part.q:
        case Linear():
            scaling.linear(part.q, prefix, 1 / reads, 1.0)
        case LowRank(down, norm, up):
            asked = sqrt(norm.eps.value)
            scaling.linear(down, prefix, asked / reads, asked)
            scaling.linear(up, prefix, 1.0, 1.0)
        case _:
            assert_never(part.q)
    scaling.linear(part.output, prefix, gives, gives)


def _fused_rows(part: Attention, q_level: float, k_level: float) -> Tensor:
    """One factor for each row of the fused map: [H*E + 2*K*E]."""
    q_width = part.n_heads.value * part.head_dim.value
    kv_width = part.n_kv_heads.value * part.head_dim.value
    levels = [q_level] * q_width + [k_level] * kv_width + [1.0] * kv_width
    return torch.tensor(levels, dtype=torch.float64)


def _feed_forward(
    scaling: Scaling, part: FeedForward, prefix: str, reads: float, gives: float
) -> None:
    match part:
        case Mlp():
            inputs: tuple[Linear, ...] = (part.up,)
        case Glu():
            inputs = (part.gate, part.up)
        case MixtureOfExperts():
            _mixture(scaling, part, prefix, reads, gives)
            return
        case _:
            assert_never(part)
    for linear in inputs:
        scaling.linear(linear, prefix, 1 / reads, 1.0)
    scaling.linear(part.down, prefix, gives, gives)


def _mixture(
    scaling: Scaling, part: MixtureOfExperts, prefix: str, reads: float, gives: float
) -> None:
    """Logits and hidden features keep their size, so that tokens choose as ever."""
    experts, shared, scale = part.experts, part.shared, part.router.scale
    routed = gives if scale is None else gives / scale.value
    scaling.linear(part.router.linear, prefix, 1 / reads, 1.0)
    for name, weight, bias in (
        (experts.gate, 1 / reads, 1.0),
        (experts.up, 1 / reads, 1.0),
        (experts.down, routed, routed),
    ):
        scaling.factors[prefix + name] = weight
        if experts.bias:
            scaling.factors[f"{prefix}{name}_bias"] = bias
    if shared is not None:
        _feed_forward(scaling, shared.body, f"{prefix}{shared.name}.", reads, gives)
        if shared.gate is not None:
            scaling.linear(shared.gate, prefix, 1 / reads, 1.0)


def _head(scaling: Scaling, head: Head, level: float) -> None:
    match head:
        case LanguageModelHead():
            _projection(scaling, head.projection, level)
        case MaskedLanguageModelHead():
            inner = sqrt(head.norm.eps.value)
            scaling.linear(head.dense, "", inner / level, inner)
            _projection(scaling, head.projection, 1.0)
        case ClassifierHead(pooler=None):
            scaling.linear(head.projection, "", 1 / level, 1.0)
        case ClassifierHead(pooler=pooler):
            if pooler is not None:
                scaling.linear(pooler.dense, "", 1 / level, 1.0)
        case FeaturesHead():
            pass
        case _:
            assert_never(head)


def _projection(scaling: Scaling, part: Tied | Linear, level: float) -> None:
    match part:
        case Linear():
            scaling.linear(part, "", 1 / level, 1.0)
        case Tied(embedding, bias_name):
            if bias_name is not None:
                scaling.factors[bias_name] = level * _table_factor(scaling, embedding)
        case _:
            assert_never(part)


def _table_factor(scaling: Scaling, embedding: Embedding) -> Factor:
    return scaling.factors[f"{embedding.name}.weight"]
