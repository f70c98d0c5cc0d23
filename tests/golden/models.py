"""Small IRs built by hand: one function a part, and models of the four kinds from them.

Sizes are tiny and pairwise distinct, so that a swapped axis shows. Names are those that lowering
gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from specc.ir.attention import (
    Attention,
    AttentionSource,
    FusedProjection,
    InverseSqrt,
    LatentAttention,
    NormOver,
    QkL2Norm,
    QkNorm,
    Scale,
    SeparateProjections,
    Temperature,
)
from specc.ir.block import (
    Block,
    Embedding,
    EmbeddingScale,
    FeatureInput,
    LayerType,
    Residual,
    Segment,
    Stack,
    Sublayer,
    TokenInput,
    Wiring,
)
from specc.ir.feed_forward import FeedForward, Glu, Mlp
from specc.ir.heads import (
    ClassifierHead,
    FeaturesHead,
    Head,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Pool,
    Pooler,
    Tied,
)
from specc.ir.init import ZEROS, LogSqrt, Normal
from specc.ir.layers import (
    Activation,
    Cast,
    Dropout,
    DropoutSite,
    LayerNorm,
    Linear,
    Norm,
    NormWeight,
    RmsNorm,
)
from specc.ir.model import Kind, Model
from specc.ir.positions import (
    Alibi,
    AttentionPosition,
    InputPosition,
    LearnedPosition,
    PositionIndex,
    Rotary,
    RotaryLayout,
    RotaryScaling,
    RotarySlice,
    Sinusoidal,
    SinusoidFrequency,
    SinusoidLayout,
)
from specc.ir.sizes import Constant, Size, Width, width

Body = Attention | LatentAttention | FeedForward
INIT = Normal(Constant("init_std", 0.02))
VOCAB = Size("vocab_size", 29, "V")
LENGTH = Size("max_seq_len", 16, "L")
D_MODEL = Size("d_model", 12, "D")
N_HEADS = Size("n_heads", 4, "H")
N_KV_HEADS = Size("n_kv_heads", 2, "K")
HEAD_DIM = Size("head_dim", 6, "E")
D_FF = Size("d_ff", 20, "F")
N_TYPES = Size("n_types", 3, "N")
N_CLASSES = Size("n_classes", 5, "C")
N_LAYERS = Size("n_layers", 2, "L")


def sized(size: Size, value: int) -> Size:
    """The same size with another value."""
    return replace(size, value=value)


def linear(name: str, inputs: Width, outputs: Width, bias: bool = True) -> Linear:
    return Linear(name, inputs, outputs, bias, INIT, ZEROS)


def layer_norm(
    name: str = "norm",
    features: Width | None = None,
    eps: float = 1e-5,
    weight: NormWeight = NormWeight.PLAIN,
    bias: bool = True,
) -> LayerNorm:
    return LayerNorm(
        name, features or width(D_MODEL), Constant("norm_eps", eps), weight, bias, None
    )


def rms_norm(
    name: str = "norm",
    features: Width | None = None,
    eps: float = 1e-6,
    weight: NormWeight = NormWeight.PLAIN,
    cast: Cast = Cast.BEFORE_WEIGHT,
) -> RmsNorm:
    return RmsNorm(name, features or width(D_MODEL), Constant("norm_eps", eps), weight, cast, None)


def named(norm: Norm, name: str) -> Norm:
    """The same norm as another attribute."""
    return replace(norm, name=name)


def qk_norm(
    over: NormOver = NormOver.HEAD,
    weight: NormWeight = NormWeight.PLAIN,
    n_heads: Size = N_HEADS,
    n_kv_heads: Size = N_KV_HEADS,
    head_dim: Size = HEAD_DIM,
) -> QkNorm:
    wide = over is NormOver.FULL
    q = width(n_heads, head_dim) if wide else width(head_dim)
    k = width(n_kv_heads, head_dim) if wide else width(head_dim)
    q_norm, k_norm = rms_norm("q_norm", q, weight=weight), rms_norm("k_norm", k, weight=weight)
    return QkNorm(over, False, q_norm, k_norm)


def qk_l2_norm(learned: bool = True, eps: float = 1e-12) -> QkL2Norm:
    temperature = Temperature("log_scale", N_HEADS, LogSqrt(HEAD_DIM)) if learned else None
    return QkL2Norm(Constant("qk_norm_eps", eps), temperature)


def rotary(
    layout: RotaryLayout = RotaryLayout.HALF,
    theta: float = 10000.0,
    scaling: RotaryScaling | None = None,
    rotary_dim: Size | None = None,
    index: PositionIndex = PositionIndex.MASK,
    head_dim: Size = HEAD_DIM,
    length: Size = LENGTH,
) -> Rotary:
    turned = rotary_dim or head_dim
    base = Constant("rope_theta", theta)
    return Rotary(
        "rotary", length, head_dim, turned, base, layout, RotarySlice.FIRST, scaling, index
    )


def alibi(n_heads: Size = N_HEADS) -> Alibi:
    return Alibi("alibi", n_heads)


def learned(offset: int = 0, index: PositionIndex = PositionIndex.MASK) -> LearnedPosition:
    return LearnedPosition("position_embedding", LENGTH, D_MODEL, offset, index, None, INIT)


def sinusoidal(
    layout: SinusoidLayout = SinusoidLayout.INTERLEAVED,
    frequency: SinusoidFrequency = SinusoidFrequency.TWO_K_OVER_D,
    index: PositionIndex = PositionIndex.MASK,
) -> Sinusoidal:
    return Sinusoidal("position", LENGTH, D_MODEL, layout, frequency, index)


def attention(
    *,
    source: AttentionSource = AttentionSource.SELF,
    causal: bool = True,
    n_heads: Size = N_HEADS,
    n_kv_heads: Size = N_KV_HEADS,
    head_dim: Size = HEAD_DIM,
    fused: bool = False,
    bias: tuple[bool, bool, bool, bool] = (True, True, True, True),
    scale: Scale | None = None,
    norm: QkNorm | QkL2Norm | None = None,
    position: AttentionPosition | None = None,
    dropout: float = 0.0,
    gives_weights: bool = False,
) -> Attention:
    """`bias`: of q, k, v and the output; a fused projection takes the first."""
    q_rows, kv_rows, d_model = width(n_heads, head_dim), width(n_kv_heads, head_dim), width(D_MODEL)
    rows = Width(((n_heads, head_dim), (2, n_kv_heads, head_dim)))
    separate = SeparateProjections(
        linear("q_proj", d_model, q_rows, bias[0]),
        linear("k_proj", d_model, kv_rows, bias[1]),
        linear("v_proj", d_model, kv_rows, bias[2]),
    )
    return Attention(
        source=source,
        causal=causal,
        cached=causal,
        d_model=D_MODEL,
        n_heads=n_heads,
        n_kv_heads=n_kv_heads,
        head_dim=head_dim,
        projections=(
            FusedProjection(linear("qkv_proj", d_model, rows, bias[0])) if fused else separate
        ),
        output=linear("o_proj", q_rows, d_model, bias[3]),
        scale=scale or InverseSqrt(head_dim),
        qk_norm=norm,
        position=position,
        reach=None,
        clip=None,
        softcap=None,
        sinks=None,
        temperature=None,
        gate=None,
        scale_by_layer=False,
        dropout=_dropout("dropout", DropoutSite.ATTENTION, dropout),
        output_dropout=_dropout("output_dropout", DropoutSite.ATTENTION_OUT, dropout),
        gives_weights=gives_weights,
    )


def mlp(
    activation: Activation = Activation.GELU_ERF, bias: bool = True, dropout: float = 0.0
) -> Mlp:
    return Mlp(
        D_MODEL,
        D_FF,
        activation,
        linear("up_proj", width(D_MODEL), width(D_FF), bias),
        linear("down_proj", width(D_FF), width(D_MODEL), bias),
        _dropout("hidden_dropout", DropoutSite.FF_HIDDEN, dropout),
        _dropout("output_dropout", DropoutSite.FF_OUT, dropout),
    )


def glu(activation: Activation = Activation.SILU, bias: bool = False, dropout: float = 0.0) -> Glu:
    return Glu(
        D_MODEL,
        D_FF,
        activation,
        None,
        linear("gate_proj", width(D_MODEL), width(D_FF), bias),
        linear("up_proj", width(D_MODEL), width(D_FF), bias),
        linear("down_proj", width(D_FF), width(D_MODEL), bias),
        _dropout("hidden_dropout", DropoutSite.FF_HIDDEN, dropout),
        _dropout("output_dropout", DropoutSite.FF_OUT, dropout),
    )


def block(
    bodies: Sequence[Body],
    norm: Norm,
    slots: str = "pre",
    wiring: Wiring = Wiring.SEQUENTIAL,
    shared: bool = False,
) -> Block:
    """`slots`: pre, post (after the sum), sandwich or post_sublayer; `shared`: one norm for all."""
    return Block(wiring, tuple(_sublayer(body, norm, slots, shared) for body in bodies))


def _sublayer(body: Body, norm: Norm, slots: str, shared: bool) -> Sublayer:
    name = "attention" if isinstance(body, Attention | LatentAttention) else "feed_forward"
    if isinstance(body, Attention) and body.source is AttentionSource.MEMORY:
        name = "cross_attention"
    first = named(norm, "norm" if shared else f"{name}_norm")
    match slots:
        case "pre":
            return Sublayer(name, body, first, None, None, Residual.RAW, None, None)
        case "post":
            return Sublayer(name, body, None, None, first, Residual.RAW, None, None)
        case "sandwich":
            post = named(norm, f"{name}_post_norm")
            return Sublayer(name, body, first, post, None, Residual.RAW, None, None)
        case "post_sublayer":
            return Sublayer(name, body, None, first, None, Residual.RAW, None, None)
        case _:
            raise ValueError(slots)


def token_input(
    *,
    name: str = "embedding",
    scale: EmbeddingScale | Constant = EmbeddingScale.ONE,
    types: bool = False,
    position: InputPosition | None = None,
    norm: Norm | None = None,
    dropout: float = 0.0,
) -> TokenInput:
    return TokenInput(
        Embedding(name, VOCAB, D_MODEL, INIT),
        scale,
        Embedding("type_embedding", N_TYPES, D_MODEL, INIT) if types else None,
        position,
        None,
        norm,
        _dropout("dropout", DropoutSite.EMBEDDING, dropout),
    )


def stack(
    inputs: TokenInput | FeatureInput,
    blocks: Sequence[Block],
    *,
    name: str = "decoder",
    layers_name: str = "layers",
    n_layers: Size = N_LAYERS,
    final_norm: Norm | None = None,
) -> Stack:
    types = tuple(LayerType(f"layer_{i}", one) for i, one in enumerate(blocks))
    segment = Segment(tuple(range(len(types))), n_layers)
    return Stack(name, layers_name, inputs, types, (segment,), final_norm)


def model(
    kind: Kind, stacks: Sequence[Stack], heads: Sequence[Head], weights: bool = False
) -> Model:
    cache = kind in (Kind.DECODER, Kind.ENCODER_DECODER)
    title = "Tiny"
    parts = tuple(stacks), tuple(heads)
    return Model("tiny", title, title, kind, None, None, *parts, cache, False, False, weights, ())


def tied_head(inputs: TokenInput, bias: bool = False) -> LanguageModelHead:
    return _language_head(Tied(inputs.embedding, "head_bias" if bias else None))


def untied_head(bias: bool = False) -> LanguageModelHead:
    return _language_head(linear("head", width(D_MODEL), width(VOCAB), bias))


def _language_head(projection: Tied | Linear) -> LanguageModelHead:
    return LanguageModelHead("logits", None, projection, None, None, None, None)


def masked_head(inputs: TokenInput, norm: Norm) -> MaskedLanguageModelHead:
    dense = linear("mlm_dense", width(D_MODEL), width(D_MODEL))
    projection = Tied(inputs.embedding, "mlm_bias")
    return MaskedLanguageModelHead(
        "logits", dense, Activation.GELU_ERF, named(norm, "mlm_norm"), projection
    )


def classifier(pool: Pool = Pool.FIRST, pooler: bool = False) -> ClassifierHead:
    dense = linear("pooler", width(D_MODEL), width(D_MODEL))
    return ClassifierHead(
        "class_logits",
        pool,
        Pooler(dense, Activation.TANH) if pooler else None,
        linear("classifier", width(D_MODEL), width(N_CLASSES)),
        N_CLASSES,
    )


def decoder(
    block: Block, inputs: TokenInput | None = None, norm: Norm | None = None, **more: bool
) -> Model:
    """A decoder with a tied head; `norm` is the final one."""
    given = inputs or token_input()
    final = None if norm is None else named(norm, "norm")
    stacks = [stack(given, [block], final_norm=final)]
    return model(Kind.DECODER, stacks, [tied_head(given)], **more)


def features_model(block: Block, norm: Norm | None = None) -> Model:
    """A feature set model that gives its last features."""
    stacks = [stack(FeatureInput(D_MODEL), [block], name="encoder", final_norm=norm)]
    return model(Kind.FEATURES, stacks, [FeaturesHead("features")])


def _dropout(name: str, site: DropoutSite, p: float) -> Dropout | None:
    return Dropout(name, site, Constant("dropout", p)) if p else None
