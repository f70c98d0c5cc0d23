"""The parts of a layer in the schema: norms, positions, blocks, attention, feed-forward.

Strict, frozen, every key known. Nothing here computes.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Node(BaseModel):
    """Base of every mapping of the language."""

    # Only `Spec` is ever validated: the parts need no validators of their own (start-up time).
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", defer_build=True)


Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
Offset = Annotated[int, Field(ge=0, le=1024)]
Probability = Annotated[float, Field(ge=0.0, lt=1.0)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
Sublayer = Literal["attention", "cross_attention", "feed_forward"]
StackName = Literal["encoder", "decoder"]
FeedForwardActivation = Literal["relu", "relu_squared", "gelu_erf", "gelu_tanh", "silu"]


class Norm(Node):
    """What a norm does to its input; its place is the block's."""

    kind: Literal["layer", "rms"]
    eps: Positive = 1e-6
    weight: Literal["w", "one_plus_w", "none"] = "w"
    bias: bool | None = None  # layer: True unless weight is none; rms: never
    cast: Literal["native", "before_weight", "after_weight"] | None = (
        None  # layer: native; rms: before_weight
    )


class Sinusoidal(Node):
    """A fixed table at the input."""

    kind: Literal["sinusoidal"]
    layout: Literal["interleaved", "concat"] = "interleaved"
    frequency: Literal["2k/d", "k/(half-1)"] = "2k/d"
    index: Literal["mask", "arange"] = "mask"


class Learned(Node):
    """A trained table at the input."""

    kind: Literal["learned"]
    offset: Offset = 0
    index: Literal["mask", "arange", "ids"] = "mask"  # ids: needs embedding.pad_id


class LinearScaling(Node):
    """All rotary frequencies divided by one factor."""

    kind: Literal["linear"]
    factor: Positive


class Llama3Scaling(Node):
    """Long rotary waves divided, short ones kept."""

    kind: Literal["llama3"]
    factor: Positive
    low_freq_factor: Positive
    high_freq_factor: Positive
    original_max_seq_len: Count


class DynamicScaling(Node):
    """theta grows with the length of the call."""

    kind: Literal["dynamic"]
    factor: Positive
    original_max_seq_len: Count


class YarnScaling(Node):
    """Long waves stretched, short ones kept, a ramp between, and a factor for cos and sin."""

    kind: Literal["yarn"]
    factor: Positive
    original_max_seq_len: Count
    beta_fast: Positive = 32.0
    beta_slow: Positive = 1.0
    attention_factor: Positive | None = None
    mscale: Positive | None = None
    mscale_all_dim: Positive | None = None
    truncate: bool = True


class LongRopeScaling(Node):
    """Each frequency divided by a factor of its own, one set for short and one for long calls."""

    kind: Literal["longrope"]
    short_factors: tuple[Positive, ...]
    long_factors: tuple[Positive, ...]
    original_max_seq_len: Annotated[int, Field(ge=2, le=2**31 - 1)]  # its logarithm divides
    attention_factor: Positive | None = None


class ProportionalScaling(Node):
    """Exponents over the whole head; pairs beyond the fraction do not turn."""

    kind: Literal["proportional"]


Scaling = Annotated[
    LinearScaling
    | Llama3Scaling
    | DynamicScaling
    | YarnScaling
    | LongRopeScaling
    | ProportionalScaling,
    Field(discriminator="kind"),
]


class Rope(Node):
    """Rotation of q and k."""

    kind: Literal["rope"]
    theta: Positive = 10000.0
    layout: Literal["half", "interleaved"] = "half"
    fraction: Annotated[float, Field(gt=0.0, le=1.0)] = (
        1.0  # rotary_dim = int(head_dim * fraction), even
    )
    slice: Literal["first", "last"] = "first"  # which features turn when not all do
    scaling: Scaling | None = None
    index: Literal["mask", "arange"] = "mask"


class Alibi(Node):
    """A bias to the scores that falls with distance."""

    kind: Literal["alibi"]


class NoPosition(Node):
    """Nothing tells the order but the mask."""

    kind: Literal["none"]


Position = Annotated[Sinusoidal | Learned | Rope | Alibi | NoPosition, Field(discriminator="kind")]


class Block(Node):
    """How the sublayers of a layer are wired."""

    norm_placement: Literal["pre", "post", "sandwich", "post_sublayer"]
    wiring: Literal["sequential", "parallel"] = "sequential"
    shared_norm: bool = False  # parallel only: both sublayers read one norm
    sublayers: tuple[Sublayer, ...]
    skip_norms: tuple[Sublayer, ...] = ()  # sublayers whose norm slots stay empty
    residual: Literal["raw", "normed"] = "raw"
    residual_multiplier: Positive | None = None
    layer_scale: Positive | None = None  # what its gains start from


class Bias(Node):
    """Which attention projections have a bias."""

    q: bool = False
    k: bool = False
    v: bool = False
    o: bool = False


class InverseSqrt(Node):
    """1 / sqrt(inv_sqrt)."""

    inv_sqrt: Count


class RmsQkNorm(Node):
    """q and k normed as features are."""

    kind: Literal["rms", "layer"]
    over: Literal["head", "full", "per_head"] = "head"
    when: Literal["before_rotary", "after_rotary"] = "before_rotary"
    eps: Positive | None = None  # the norm's own eps
    weight: Literal["w", "one_plus_w", "none"] = "w"
    bias: bool | None = None
    cast: Literal["native", "before_weight", "after_weight"] | None = None


class L2QkNorm(Node):
    """q and k divided by their length."""

    kind: Literal["l2"]
    eps: Positive = 1e-12
    temperature: Literal["none", "per_head"] = (
        "none"  # per_head: exp(log_scale[h]), starts at sqrt(head_dim)
    )


class PositionTemperature(Node):
    """Queries that grow with their position, for attention over long inputs."""

    floor: Positive = 8192.0
    coefficient: Positive = 0.1


class Attention(Node):
    """Self-attention, or attention over a memory."""

    kind: Literal["multi_head"]
    n_heads: Count
    n_kv_heads: Count | None = None  # n_heads
    head_dim: Count | None = None  # d_model / n_heads
    bias: Bias = Bias()
    projection: Literal["separate", "fused"] = "separate"
    scale: Literal["inv_sqrt_head_dim", "one"] | InverseSqrt | Positive = "inv_sqrt_head_dim"
    qk_norm: Annotated[RmsQkNorm | L2QkNorm, Field(discriminator="kind")] | None = None
    window: Count | None = None  # keys that a query sees: causal with its own, else to each side
    chunk: Count | None = None  # a query sees its own chunk of that many tokens only
    clip_qkv: Positive | None = None
    softcap: Positive | None = None
    sinks: bool = False
    temperature: PositionTemperature | None = None
    gate: Literal["none", "sigmoid"] = "none"
    scale_by_layer: bool = False  # scores are also divided by the layer's number, from 1


class LatentBias(Node):
    """Which maps of latent attention have a bias."""

    a: bool = False  # the maps down to latents
    o: bool = False


class LatentAttention(Node):
    """Self-attention whose keys and values unfold from one latent a token."""

    kind: Literal["latent"]
    n_heads: Count
    nope_head_dim: Count
    rope_head_dim: Count
    value_head_dim: Count
    kv_rank: Count
    q_rank: Count | None = None  # None: one map makes the queries
    norm_eps: Positive | None = None  # of the latents' norms; None: the base norm's
    scale_multiplier: Positive | None = None
    bias: LatentBias = LatentBias()
    window: Count | None = None


AnyAttention = Annotated[Attention | LatentAttention, Field(discriminator="kind")]


class FeedForwardBias(Node):
    """Which feed-forward maps have a bias."""

    up: bool = False  # and gate
    down: bool = False


class Clamp(Node):
    """Gate and up kept within a limit, in place of activation and product."""

    alpha: Positive = 1.702
    limit: Positive = 7.0
    up_offset: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 1.0


class Mlp(Node):
    """Two maps with an activation between."""

    kind: Literal["mlp"]
    activation: FeedForwardActivation
    d_ff: Count
    bias: FeedForwardBias = FeedForwardBias()


class Glu(Node):
    """Three maps, one of which gates another."""

    kind: Literal["glu"]
    activation: FeedForwardActivation
    d_ff: Count
    bias: FeedForwardBias = FeedForwardBias()
    clamp: Clamp | None = None


class ExpertGroups(Node):
    """Neighbouring experts, of whose groups only the best take part in the selection."""

    n_groups: Count
    n_kept: Count
    score: Literal["max", "top2_sum"] = "max"
    fill: Literal["zero", "minus_infinity"] = "zero"


class SharedExpert(Node):
    """A gated feed-forward that every token passes."""

    d_ff: Count
    gate: Literal["none", "sigmoid"] = "none"


class Experts(Node):
    """Gated feed-forwards of which a router chooses a few for each token."""

    kind: Literal["experts"]
    n_experts: Annotated[int, Field(ge=2, le=2**31 - 1)]
    top_k: Count
    activation: FeedForwardActivation
    d_ff: Count  # of one expert
    bias: FeedForwardBias = FeedForwardBias()
    clamp: Clamp | None = None
    router_bias: bool = False
    score: Literal["softmax", "topk_softmax", "sigmoid"] = "softmax"
    selection_bias: bool = False
    renormalise: bool = False
    renorm_eps: Positive | None = None
    scale: Positive | None = None  # of the weights of the chosen experts
    apply: Literal["output", "input"] = "output"
    groups: ExpertGroups | None = None
    shared: SharedExpert | None = None


FeedForward = Annotated[Mlp | Glu | Experts, Field(discriminator="kind")]
