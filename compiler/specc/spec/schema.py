"""The schema of a resolved spec: sugar spelled out, style and base parts merged into every layer
type. Strict, frozen, every key known. Nothing here computes: sizes are plain integers by the time
they arrive, and what follows from several fields at once is lowering's to check.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from specc.spec.parts import (
    Alibi as Alibi,
)
from specc.spec.parts import (
    AnyAttention as AnyAttention,
)
from specc.spec.parts import (
    Attention as Attention,
)
from specc.spec.parts import (
    Bias as Bias,
)
from specc.spec.parts import (
    Block as Block,
)
from specc.spec.parts import (
    Clamp as Clamp,
)
from specc.spec.parts import (
    Count as Count,
)
from specc.spec.parts import (
    DynamicScaling as DynamicScaling,
)
from specc.spec.parts import (
    ExpertGroups as ExpertGroups,
)
from specc.spec.parts import (
    Experts as Experts,
)
from specc.spec.parts import (
    FeedForward as FeedForward,
)
from specc.spec.parts import (
    FeedForwardActivation as FeedForwardActivation,
)
from specc.spec.parts import (
    FeedForwardBias as FeedForwardBias,
)
from specc.spec.parts import (
    Glu as Glu,
)
from specc.spec.parts import (
    InverseSqrt as InverseSqrt,
)
from specc.spec.parts import (
    L2QkNorm as L2QkNorm,
)
from specc.spec.parts import (
    LatentAttention as LatentAttention,
)
from specc.spec.parts import (
    LatentBias as LatentBias,
)
from specc.spec.parts import (
    Learned as Learned,
)
from specc.spec.parts import (
    LinearScaling as LinearScaling,
)
from specc.spec.parts import (
    Llama3Scaling as Llama3Scaling,
)
from specc.spec.parts import (
    LongRopeScaling as LongRopeScaling,
)
from specc.spec.parts import (
    Mlp as Mlp,
)
from specc.spec.parts import (
    Node as Node,
)
from specc.spec.parts import (
    NoPosition as NoPosition,
)
from specc.spec.parts import (
    Norm as Norm,
)
from specc.spec.parts import (
    Offset as Offset,
)
from specc.spec.parts import (
    Position as Position,
)
from specc.spec.parts import (
    PositionTemperature as PositionTemperature,
)
from specc.spec.parts import (
    Positive as Positive,
)
from specc.spec.parts import (
    Probability as Probability,
)
from specc.spec.parts import (
    ProportionalScaling as ProportionalScaling,
)
from specc.spec.parts import (
    RmsQkNorm as RmsQkNorm,
)
from specc.spec.parts import (
    Rope as Rope,
)
from specc.spec.parts import (
    Scaling as Scaling,
)
from specc.spec.parts import (
    SharedExpert as SharedExpert,
)
from specc.spec.parts import (
    Sinusoidal as Sinusoidal,
)
from specc.spec.parts import (
    StackName as StackName,
)
from specc.spec.parts import (
    Sublayer as Sublayer,
)
from specc.spec.parts import (
    YarnScaling as YarnScaling,
)


class Layer(Node):
    """One layer type with everything it inherits written out."""

    block: Block
    norm: Norm
    attention: AnyAttention | None  # self-attention; None when the block has none
    cross_attention: AnyAttention | None
    feed_forward: FeedForward | None
    position: Position


class Stack(Node):
    """Layers of one or several types, and a final norm."""

    name: StackName
    n_layers: Count
    pattern: tuple[str, ...]
    types: dict[str, Layer]
    final_norm: Norm | None


class EmbeddingProjection(Node):
    """The map from a narrower embedding to the model's width."""

    at: Literal["before_position", "before_norm", "after_norm"] = "before_position"
    bias: bool = False


class Embedding(Node):
    """How tokens become features."""

    width: Count | None = None  # d_model
    project: EmbeddingProjection | None = None  # with a width of its own
    padded_vocab_size: Count | None = None  # rows of the tables; logits are cut to vocab_size
    scale: Literal["one", "sqrt_d_model"] | Positive = "one"
    norm: Norm | None = None
    types: Count | None = None  # token types (BERT segments)
    shared: bool = False  # encoder_decoder: source and target read one table
    pad_id: Offset | None = None  # what position index `ids` does not count


class LanguageModelHead(Node):
    """Logits over the vocabulary."""

    kind: Literal["language_model"]
    tied: bool = False
    bias: bool = False
    in_multiplier: Positive | None = None  # of the features
    out_multiplier: Positive | None = None  # of the logits
    softcap: Positive | None = None  # softcap * tanh(logits / softcap)


class MaskedLanguageModelHead(Node):
    """Logits over the vocabulary behind a transform."""

    kind: Literal["masked_language_model"]
    tied: bool = False
    bias: bool = True
    activation: Literal["relu", "gelu_erf", "gelu_tanh", "silu", "tanh"]
    norm: Norm


class ClassifierHead(Node):
    """Logits over classes."""

    kind: Literal["classifier"]
    name: str = "class_logits"  # of the output
    pool: Literal["first", "mean"]
    pooler: Literal["none", "tanh"] = "none"
    n_classes: Count
    bias: bool = True


class FeaturesHead(Node):
    """The features themselves."""

    kind: Literal["features"]


Head = Annotated[
    LanguageModelHead | MaskedLanguageModelHead | ClassifierHead | FeaturesHead,
    Field(discriminator="kind"),
]


class Dropout(Node):
    """Probabilities at the five named sites."""

    embedding: Probability = 0.0
    attention: Probability = 0.0
    attention_out: Probability = 0.0
    ff_hidden: Probability = 0.0
    ff_out: Probability = 0.0


class Init(Node):
    """How weights begin."""

    kind: Literal["normal", "xavier_uniform", "torch"] = "normal"
    std: Positive = 0.02  # normal: of every matrix; else: of the embeddings only
    outputs: Literal["same", "depth_scaled", "zero"] = "same"  # o_proj and down_proj


class Claims(Node):
    """Numbers that the paper gives."""

    parameters: Annotated[int, Field(ge=1, le=10**15)]
    tolerance: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0


class Paper(Node):
    """The paper that the spec follows."""

    title: str
    authors: str | None = None
    arxiv: str | None = None
    url: str | None = None
    year: Count | None = None
    claims: Claims | None = None


class Source(Node):
    """Where trained weights are."""

    huggingface: str | None = None
    layout: str | None = None  # how the tensors of its files are named and stored


class LedgerEntry(Node):
    """Where one choice comes from."""

    status: Literal["stated", "figure", "official_code", "unstated", "deviates"]
    at: str | None = None  # section, figure, file
    quote: str | None = None
    choice: str | int | float | bool | None = None
    because: str | None = None
    alternatives: tuple[str | int | float | bool, ...] = ()


class Spec(Node):
    """A whole spec."""

    specc: Literal[1]
    name: str
    title: str | None = None
    class_name: str | None = None  # written `class:`
    kind: Literal["decoder", "encoder", "encoder_decoder", "features"]
    paper: Paper | None = None
    source: Source | None = None
    features: tuple[Literal["cache", "generate", "cpu_decode"], ...]
    outputs: tuple[Literal["attention_weights"], ...] = ()
    vocab_size: Count | None  # None: features
    d_model: Count
    max_seq_len: Count | None = None  # needed by tables of positions
    embedding: Embedding | None
    stacks: tuple[Stack, ...]
    heads: tuple[Head, ...]
    dropout: Dropout
    init: Init
    ledger: dict[str, LedgerEntry] = Field(default={})
