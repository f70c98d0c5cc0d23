"""One small spec whose IR is written out by hand, and models of several stacks and heads."""

from __future__ import annotations

from typing import Any

from specc.ir.attention import (
    Attention,
    AttentionSource,
    InverseSqrt,
    SeparateProjections,
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
from specc.ir.feed_forward import Mlp
from specc.ir.heads import (
    ClassifierHead,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Pool,
    Pooler,
    Tied,
)
from specc.ir.init import ZEROS, Normal
from specc.ir.layers import (
    Activation,
    Dropout,
    DropoutSite,
    LayerNorm,
    Linear,
    NormWeight,
)
from specc.ir.model import Kind, Model
from specc.ir.parameters import parameter_count, parameters
from specc.ir.positions import LearnedPosition, PositionIndex, Sinusoidal
from specc.ir.sizes import Constant, Size, Width
from tests.unit.lower.build import (
    LAYER_NORM,
    decoder,
    encoder_decoder,
    features,
    layer,
    lowered,
    stack,
)

V = Size("vocab_size", 11, "V")
D = Size("d_model", 8, "D")
L = Size("n_layers", 3, "L")
H = Size("n_heads", 2, "H")
E = Size("head_dim", 4, "E")
F = Size("d_ff", 12, "F")
N = Size("max_seq_len", 16, "max_seq_len")
STD = Constant("init_std", 0.02)
EPS = Constant("norm_eps", 1e-05)
P = Constant("dropout", 0.1)
WIDE = Width(((D,),))
HEADS = Width(((H, E),))
HIDDEN = Width(((F,),))
CROSSED = ("attention", "cross_attention", "feed_forward")


def linear(name: str, inputs: Width, outputs: Width, bias: bool = False, depth=None) -> Linear:
    return Linear(name, inputs, outputs, bias, Normal(STD, depth), ZEROS)


def norm(name: str) -> LayerNorm:
    return LayerNorm(name, WIDE, EPS, NormWeight.PLAIN, bias=True, heads=None)


def test_a_whole_model_by_hand():
    node = {"n_heads": 2, "bias": {"q": True}}
    found = lowered(
        **decoder(attention=node, position={"kind": "learned"}),
        title="Tiny!",
        features=("cache",),
        heads=({"kind": "language_model", "tied": True, "bias": True},),
        dropout={"embedding": 0.1, "ff_hidden": 0.1},
        init={"outputs": "depth_scaled"},
    )
    embedding = Embedding("embedding", V, D, Normal(STD))
    attention = Attention(
        source=AttentionSource.SELF,
        causal=True,
        cached=True,
        d_model=D,
        n_heads=H,
        n_kv_heads=H,
        head_dim=E,
        projections=SeparateProjections(
            q=linear("q_proj", WIDE, HEADS, bias=True),
            k=linear("k_proj", WIDE, HEADS),
            v=linear("v_proj", WIDE, HEADS),
        ),
        output=linear("o_proj", HEADS, WIDE, depth=L),
        scale=InverseSqrt(E),
        qk_norm=None,
        position=None,
        reach=None,
        clip=None,
        softcap=None,
        sinks=None,
        temperature=None,
        gate=None,
        scale_by_layer=False,
        dropout=None,
        output_dropout=None,
        gives_weights=False,
    )
    feed_forward = Mlp(
        d_model=D,
        d_ff=F,
        activation=Activation.RELU,
        up=linear("up_proj", WIDE, HIDDEN),
        down=linear("down_proj", HIDDEN, WIDE, depth=L),
        hidden_dropout=Dropout("hidden_dropout", DropoutSite.FF_HIDDEN, P),
        output_dropout=None,
    )
    sublayers = (
        Sublayer(
            "attention", attention, norm("attention_norm"), None, None, Residual.RAW, None, None
        ),
        Sublayer(
            "feed_forward",
            feed_forward,
            norm("feed_forward_norm"),
            None,
            None,
            Residual.RAW,
            None,
            None,
        ),
    )
    assert found == Model(
        name="tiny",
        class_name="Tiny",
        title="Tiny!",
        kind=Kind.DECODER,
        paper=None,
        layout=None,
        stacks=(
            Stack(
                name="decoder",
                layers_name="layers",
                input=TokenInput(
                    embedding=embedding,
                    scale=EmbeddingScale.ONE,
                    types=None,
                    position=LearnedPosition(
                        "position_embedding", N, D, 0, PositionIndex.MASK, None, Normal(STD)
                    ),
                    project=None,
                    norm=None,
                    dropout=Dropout("dropout", DropoutSite.EMBEDDING, P),
                ),
                layer_types=(LayerType("layer", Block(Wiring.SEQUENTIAL, sublayers)),),
                segments=(Segment((0,), L),),
                final_norm=None,
            ),
        ),
        heads=(
            LanguageModelHead("logits", None, Tied(embedding, "head_bias"), None, None, None, None),
        ),
        cache=True,
        generate=False,
        cpu_decode=False,
        attention_weights=False,
        citations=(),
    )
    a_layer = (4 * 64 + 8) + 2 * 96 + 2 * 16  # attention with q bias, feed-forward, two norms
    assert parameter_count(found) == 11 * 8 + 16 * 8 + 3 * a_layer + 11


def test_encoder_decoder():
    table = {"position": {"kind": "sinusoidal"}}
    changes = encoder_decoder(
        stack("encoder", {"layer": layer(**table)}, final_norm=LAYER_NORM),
        stack("decoder", {"layer": layer(CROSSED, **table)}, final_norm=LAYER_NORM),
        features=("cache",),
        embedding={"norm": LAYER_NORM},
        heads=({"kind": "language_model", "tied": True},),
    )
    encoder, target = lowered(**changes).stacks
    assert isinstance(encoder.input, TokenInput)
    assert isinstance(target.input, TokenInput)
    names = [(s.layers_name, s.final_norm and s.final_norm.name) for s in (encoder, target)]
    assert names == [("encoder_layers", "encoder_norm"), ("decoder_layers", "decoder_norm")]
    assert encoder.input.embedding.name == "source_embedding"
    assert target.input.embedding.name == "target_embedding"
    assert encoder.input.norm is not None
    assert encoder.input.norm.name == "encoder_embedding_norm"
    assert encoder.input.position == target.input.position
    assert isinstance(encoder.input.position, Sinusoidal)
    assert encoder.input.position.name == "position"
    head = lowered(**changes).heads[0]
    assert isinstance(head, LanguageModelHead)
    assert isinstance(head.projection, Tied)
    assert head.projection.embedding == target.input.embedding
    bodies = [s.body for t in (encoder, target) for s in t.layer_types[0].block.sublayers]
    flags = [(b.source.value, b.causal, b.cached) for b in bodies if isinstance(b, Attention)]
    assert flags == [("self", False, False), ("self", True, True), ("memory", False, True)]


def test_two_different_tables_have_two_names():
    def table(layout: str) -> dict[str, Any]:
        return {"position": {"kind": "sinusoidal", "layout": layout}}

    found = lowered(
        **encoder_decoder(
            stack("encoder", {"layer": layer(**table("concat"))}),
            stack("decoder", {"layer": layer(CROSSED, **table("interleaved"))}),
            embedding={"shared": True},
        )
    )
    inputs = [s.input for s in found.stacks if isinstance(s.input, TokenInput)]
    positions = [i.position.name for i in inputs if i.position is not None]
    assert positions == ["encoder_position", "decoder_position"]
    assert {i.embedding.name for i in inputs} == {"embedding"}


def test_learned_tables_are_each_stacks_own():
    table = {"position": {"kind": "learned", "offset": 2}}
    crossed = stack("decoder", {"layer": layer(CROSSED, **table)})
    found = lowered(**encoder_decoder(stack("encoder", {"layer": layer(**table)}), crossed))
    shapes = {p.path: p.shape for p in parameters(found) if "position" in p.path}
    assert shapes == {
        "encoder_position_embedding.weight": (18, 8),
        "decoder_position_embedding.weight": (18, 8),
    }


def test_features():
    found = lowered(**features())
    assert found.stacks[0].input == FeatureInput(D)
    body = found.stacks[0].layer_types[0].block.sublayers[0].body
    assert isinstance(body, Attention)
    assert (body.source, body.causal) == (AttentionSource.MEMORY, False)


def test_heads_of_a_pre_trained_encoder():
    found = lowered(
        kind="encoder",
        stacks=(stack("encoder"),),
        embedding={"types": 2, "scale": "sqrt_d_model"},
        heads=(
            {
                "kind": "masked_language_model",
                "tied": True,
                "activation": "gelu_erf",
                "norm": LAYER_NORM,
            },
            {
                "kind": "classifier",
                "name": "pair",
                "pool": "first",
                "pooler": "tanh",
                "n_classes": 2,
            },
        ),
    )
    masked, classifier = found.heads
    assert isinstance(masked, MaskedLanguageModelHead)
    assert masked.dense == linear("mlm_dense", WIDE, WIDE, bias=True)
    assert masked.norm == norm("mlm_norm")
    assert isinstance(masked.projection, Tied)
    assert masked.projection.bias_name == "mlm_bias"
    classes = Size("n_classes", 2, "C")
    assert classifier == ClassifierHead(
        output_name="pair",
        pool=Pool.FIRST,
        pooler=Pooler(linear("pooler", WIDE, WIDE, bias=True), Activation.TANH),
        projection=linear("pair", WIDE, Width(((classes,),)), bias=True),
        n_classes=classes,
    )
    assert isinstance(found.stacks[0].input, TokenInput)
    assert found.stacks[0].input.types == Embedding(
        "type_embedding", Size("n_types", 2, "n_types"), D, Normal(STD)
    )


def test_untied_heads():
    node = {"kind": "masked_language_model", "activation": "relu", "norm": LAYER_NORM}
    masked = lowered(heads=(node,)).heads[0]
    assert isinstance(masked, MaskedLanguageModelHead)
    assert masked.projection == linear("mlm_head", WIDE, Width(((V,),)), bias=True)
    classifier = lowered(heads=({"kind": "classifier", "pool": "mean", "n_classes": 2},)).heads[0]
    assert isinstance(classifier, ClassifierHead)
    assert (classifier.output_name, classifier.projection.name) == ("class_logits", "classifier")


def test_a_pattern_is_its_shortest_cycle_in_the_order_of_its_names():
    types = {"global": layer(), "local": layer(("feed_forward", "attention"))}
    model = lowered(stacks=(stack(types=types, pattern=("local", "global") * 2, n_layers=5),))
    found = model.stacks[0]
    assert [t.name for t in found.layer_types] == ["local", "global"]
    assert found.segments == (Segment((0, 1), Size("n_layers", 5, "L")),)
    assert [t.name for t in found.layers] == ["local", "global", "local", "global", "local"]


def test_a_single_type_is_called_layer():
    model = lowered(stacks=(stack(types={"plain": layer()}, pattern=("plain", "plain")),))
    assert [t.name for t in model.stacks[0].layer_types] == ["layer"]
    assert model.stacks[0].segments[0].cycle == (0,)


def test_attention_weights_of_every_layer():
    assert lowered(outputs=("attention_weights",)).attention_weights
    sublayer = lowered(outputs=("attention_weights",)).stacks[0].layer_types[0].block.sublayers[0]
    assert isinstance(sublayer.body, Attention)
    assert sublayer.body.gives_weights


def test_titles():
    assert lowered(name="tiny_lm_2").class_name == "TinyLm2"
    assert lowered(name="tiny_lm_2").title == "Tiny lm 2"
    assert lowered(class_name="LM").class_name == "LM"
