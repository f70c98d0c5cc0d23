"""One small spec whose IR is written out by hand, and the parts that it does not touch."""

from __future__ import annotations

from typing import Any

import pytest

from specc.ir.attention import (
    Attention,
    AttentionSource,
    Factor,
    FusedProjection,
    InverseSqrt,
    NormOver,
    QkL2Norm,
    QkNorm,
    SeparateProjections,
    Temperature,
    Unscaled,
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
from specc.ir.feed_forward import Glu, Mlp
from specc.ir.heads import (
    ClassifierHead,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Pool,
    Pooler,
    Tied,
)
from specc.ir.init import ZEROS, FanInUniform, LogSqrt, Normal, StandardNormal, XavierUniform
from specc.ir.layers import (
    Activation,
    Cast,
    Dropout,
    DropoutSite,
    LayerNorm,
    Linear,
    NormWeight,
    RmsNorm,
)
from specc.ir.model import Kind, Model
from specc.ir.parameters import parameter_count, parameters
from specc.ir.positions import Alibi, LearnedPosition, PositionIndex, Sinusoidal
from specc.ir.sizes import Constant, Size, Width
from tests.unit.lower.build import (
    LAYER_NORM,
    RMS_NORM,
    decoder,
    encoder_decoder,
    features,
    layer,
    lowered,
    stack,
)

V, D, L = Size("vocab_size", 11, "V"), Size("d_model", 8, "D"), Size("n_layers", 3, "L")
H, E, F = Size("n_heads", 2, "H"), Size("head_dim", 4, "E"), Size("d_ff", 12, "F")
N = Size("max_seq_len", 16, "max_seq_len")
STD, EPS, P = Constant("init_std", 0.02), Constant("norm_eps", 1e-5), Constant("dropout", 0.1)
WIDE, HEADS, HIDDEN = Width(((D,),)), Width(((H, E),)), Width(((F,),))
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
        attention_weights=False,
        citations=(),
    )
    a_layer = (4 * 64 + 8) + 2 * 96 + 2 * 16  # attention with q bias, feed-forward, two norms
    assert parameter_count(found) == 11 * 8 + 16 * 8 + 3 * a_layer + 11


def block(**changes: Any) -> Block:
    return lowered(**decoder(**changes)).stacks[0].layer_types[0].block


def slot_names(placement: str, **more: Any) -> list[tuple[str | None, str | None, str | None]]:
    def name(part: object) -> str | None:
        return part.name if isinstance(part, LayerNorm) else None

    found = block(block={"norm_placement": placement, **more})
    return [(name(s.pre), name(s.post), name(s.out)) for s in found.sublayers]


def test_slots():
    a, f = "attention_norm", "feed_forward_norm"
    assert slot_names("pre") == [(a, None, None), (f, None, None)]
    assert slot_names("post") == [(None, None, a), (None, None, f)]
    assert slot_names("post_sublayer") == [(None, a, None), (None, f, None)]
    assert slot_names("sandwich") == [
        (a, "attention_post_norm", None),
        (f, "feed_forward_post_norm", None),
    ]


def test_parallel_slots():
    parallel = {"wiring": "parallel", "shared_norm": True}
    assert slot_names("pre", wiring="parallel")[1] == ("feed_forward_norm", None, None)
    assert slot_names("pre", **parallel) == [("norm", None, None), ("norm", None, None)]
    assert slot_names("sandwich", **parallel) == [
        ("norm", "attention_post_norm", None),
        ("norm", "feed_forward_post_norm", None),
    ]


def attention(node: dict[str, Any], **changes: Any) -> Attention:
    body = block(attention={"n_heads": 2, **node}, **changes).sublayers[0].body
    assert isinstance(body, Attention)
    return body


def test_fused_projection_has_the_rows_of_q_then_k_then_v():
    plain = attention({"projection": "fused", "bias": {"q": True, "k": True, "v": True}})
    assert isinstance(plain.projections, FusedProjection)
    assert plain.projections.qkv.outputs.letters == "3*H*E"
    assert plain.projections.qkv.bias
    grouped = attention({"projection": "fused", "n_heads": 4, "n_kv_heads": 2})
    assert isinstance(grouped.projections, FusedProjection)
    assert grouped.projections.qkv.outputs.letters == "H*E + 2*K*E"
    assert grouped.projections.qkv.outputs.value == 8 + 2 * 4


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("inv_sqrt_head_dim", InverseSqrt(E)),
        ("one", Unscaled()),
        (0.25, Factor(Constant("attention_scale", 0.25))),
    ],
)
def test_scale(scale, expected):
    assert attention({"scale": scale}).scale == expected


def test_qk_norm_over_head_and_over_the_full_width():
    head = attention({"qk_norm": {"kind": "rms", "weight": "none"}, "n_heads": 4, "n_kv_heads": 2})
    assert isinstance(head.qk_norm, QkNorm)
    assert head.qk_norm.over is NormOver.HEAD
    assert head.qk_norm.q == RmsNorm(
        "q_norm", Width(((head.head_dim,),)), EPS, NormWeight.NONE, Cast.BEFORE_WEIGHT, None
    )
    node = {"kind": "layer", "over": "full", "bias": False}
    full = attention({"qk_norm": node, "n_heads": 4, "n_kv_heads": 2})
    assert isinstance(full.qk_norm, QkNorm)
    assert (full.qk_norm.q.width.letters, full.qk_norm.k.width.letters) == ("H*E", "K*E")
    assert full.qk_norm.k == LayerNorm(
        "k_norm", full.qk_norm.k.width, EPS, NormWeight.PLAIN, bias=False, heads=None
    )


def test_l2_norm_with_a_temperature_that_starts_at_the_root_of_the_head_width():
    found = attention({"qk_norm": {"kind": "l2", "temperature": "per_head"}, "scale": "one"})
    temperature = Temperature("log_scale", H, LogSqrt(E))
    assert found.qk_norm == QkL2Norm(Constant("qk_norm_eps", 1e-12), temperature)
    assert attention({"qk_norm": {"kind": "l2"}}).qk_norm == QkL2Norm(
        Constant("qk_norm_eps", 1e-12), None
    )


def test_norm_defaults():
    def found(node: dict[str, Any]) -> object:
        return block(norm=node).sublayers[0].pre

    assert found({**LAYER_NORM, "weight": "none"}) == LayerNorm(
        "attention_norm", WIDE, EPS, NormWeight.NONE, bias=False, heads=None
    )
    assert found({**RMS_NORM, "weight": "one_plus_w", "cast": "after_weight"}) == RmsNorm(
        "attention_norm",
        WIDE,
        Constant("norm_eps", 1e-6),
        NormWeight.ONE_PLUS,
        Cast.AFTER_WEIGHT,
        None,
    )


def test_gated_feed_forward():
    node = {"kind": "glu", "activation": "silu", "d_ff": 12, "bias": {"up": True}}
    body = block(feed_forward=node).sublayers[1].body
    assert isinstance(body, Glu)
    assert (body.gate.name, body.up.name, body.down.name) == ("gate_proj", "up_proj", "down_proj")
    assert (body.gate.bias, body.up.bias, body.down.bias) == (True, True, False)


def test_alibi():
    assert attention({}, position={"kind": "alibi"}).position == Alibi("alibi", H)


def inits(**init: Any) -> dict[str, object]:
    changes = decoder(
        attention={"n_heads": 2, "bias": dict.fromkeys("qkvo", True)},
        feed_forward={
            "kind": "mlp",
            "activation": "relu",
            "d_ff": 12,
            "bias": {"up": True, "down": True},
        },
        position={"kind": "learned"},
    )
    found = parameters(lowered(**changes, init=init))
    return {p.path.removeprefix("layers.0."): p.init for p in found}


def test_normal_init():
    found = inits()
    assert found["attention.q_proj.weight"] == found["feed_forward.down_proj.weight"] == Normal(STD)
    assert found["embedding.weight"] == found["position_embedding.weight"] == Normal(STD)
    assert found["attention.o_proj.bias"] == ZEROS


def test_xavier_init():
    found = inits(kind="xavier_uniform", std=0.5)
    assert found["attention.o_proj.weight"] == found["head.weight"] == XavierUniform()
    assert found["embedding.weight"] == found["position_embedding.weight"]
    assert found["embedding.weight"] == Normal(Constant("init_std", 0.5))
    assert found["feed_forward.up_proj.bias"] == ZEROS


def test_torch_init():
    found = inits(kind="torch")
    assert found["attention.q_proj.weight"] == found["attention.q_proj.bias"] == FanInUniform()
    assert found["embedding.weight"] == found["position_embedding.weight"] == StandardNormal()


def test_zero_outputs():
    found = inits(kind="torch", outputs="zero")
    outputs = [f"{name}.{part}" for name in ("attention.o_proj", "feed_forward.down_proj")
               for part in ("weight", "bias")]  # fmt: skip
    assert [found[path] for path in outputs] == [ZEROS] * 4
    assert found["feed_forward.up_proj.weight"] == FanInUniform()


def test_depth_scaled_outputs_know_their_own_stack():
    found = lowered(
        **encoder_decoder(decoder=stack(types={"layer": layer(CROSSED)}, n_layers=5)),
        init={"outputs": "depth_scaled"},
    )
    depths = {
        p.path: p.init.depth.name
        for p in parameters(found)
        if isinstance(p.init, Normal) and p.init.depth is not None and ".0." in p.path
    }
    assert depths == {
        "encoder_layers.0.attention.o_proj.weight": "n_encoder_layers",
        "encoder_layers.0.feed_forward.down_proj.weight": "n_encoder_layers",
        "decoder_layers.0.attention.o_proj.weight": "n_decoder_layers",
        "decoder_layers.0.cross_attention.o_proj.weight": "n_decoder_layers",
        "decoder_layers.0.feed_forward.down_proj.weight": "n_decoder_layers",
    }


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
