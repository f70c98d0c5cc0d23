"""The position-wise part of a block."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specc.ir.init import Init
from specc.ir.layers import Activation, Dropout, Linear
from specc.ir.sizes import Constant, Size


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
class Clamp:
    """g <- min(gate, limit), u <- clamp(up, -limit, limit); hidden = (u + up_offset) * g *
    sigmoid(alpha g).
    """

    alpha: Constant
    limit: Constant
    up_offset: Constant


@dataclass(frozen=True)
class Glu:
    """down(activation(gate(x)) * up(x)) (Shazeer 2020). A clamp replaces activation and product."""

    d_model: Size
    d_ff: Size
    activation: Activation
    clamp: Clamp | None
    gate: Linear
    up: Linear
    down: Linear
    hidden_dropout: Dropout | None
    output_dropout: Dropout | None


class Score(Enum):
    """How router logits become weights of experts."""

    SOFTMAX = "softmax"  # over all experts, then the chosen ones are kept
    TOPK_SOFTMAX = "topk_softmax"  # over the chosen experts only
    SIGMOID = "sigmoid"  # each expert for itself


class GroupScore(Enum):
    """How good a group of experts is."""

    MAX = "max"  # its best expert's selection score
    TOP2_SUM = "top2_sum"  # the sum of its two best


class GroupFill(Enum):
    """What experts of groups that are not kept count as in the selection."""

    ZERO = "zero"
    MINUS_INFINITY = "minus_infinity"


@dataclass(frozen=True)
class Groups:
    """Experts in n_groups neighbouring groups, of which n_kept take part in the selection."""

    n_groups: Size
    n_kept: Size
    score: GroupScore
    fill: GroupFill


class Apply(Enum):
    """Where an expert's weight multiplies."""

    OUTPUT = "output"
    INPUT = "input"


@dataclass(frozen=True)
class Router:
    """Chooses top_k experts for each token. Its softmax or sigmoid is computed in float32 or wider.

    `selection_bias` names a persistent buffer [X] that is added to the scores for the selection
    only.
    Weights are then renormalised to sum to 1 (plus renorm_eps in the denominator) and scaled.
    """

    linear: Linear  # D -> X
    n_experts: Size
    top_k: Size
    score: Score
    selection_bias: str | None
    groups: Groups | None
    renormalise: bool
    renorm_eps: Constant | None
    scale: Constant | None
    apply: Apply


@dataclass(frozen=True)
class Experts:
    """n_experts gated feed-forwards in three tensors: gate and up [X, F, D], down [X, D, F], biases
    [X, F], [X, F], [X, D].
    """

    n_experts: Size
    d_model: Size
    d_ff: Size
    activation: Activation
    clamp: Clamp | None
    gate: str
    up: str
    down: str
    bias: bool
    init: Init
    down_init: Init
    bias_init: Init


@dataclass(frozen=True)
class SharedExpert:
    """A feed-forward that every token passes, times sigmoid(gate(x)) if it has a gate (D -> 1)."""

    name: str
    body: Mlp | Glu
    gate: Linear | None


@dataclass(frozen=True)
class MixtureOfExperts:
    """sum over chosen experts of weight * expert(x), plus the shared expert.

    Attributes: the router's linear map and selection bias and the experts' tensors stand on the
    module itself; the shared expert under its name, its gate beside it.
    """

    d_model: Size
    router: Router
    experts: Experts
    shared: SharedExpert | None
    output_dropout: Dropout | None


FeedForward = Mlp | Glu | MixtureOfExperts
