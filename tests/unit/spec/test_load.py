"""Short forms, style words, merging and defaults: what a spec comes to."""

import pytest

from specc.diagnostics import Position
from specc.spec import schema
from tests.unit.spec.specs import PAIR, SET, TINY, changed, layer, read, refused, values


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("norm: rms", "norm: {kind: rms}"),
        ("position: rope", "position: {kind: rope}"),
        ("init: xavier_uniform", "init: {kind: xavier_uniform}"),
        ("head: language_model", "head: [{kind: language_model}]"),
        ("final_norm: false", "final_norm: none"),
        ("embedding: {scale: 1}", "embedding: {scale: one}"),
        ("embedding: {norm: true}", "embedding: {norm: {}}"),
        ("embedding: {norm: rms}", "embedding: {norm: {kind: rms}}"),
        (
            "dropout: 10%",
            (
                "dropout:\n  embedding: 0.1\n  attention: 0.1\n  attention_out: 0.1\n"
                "  ff_hidden: 0.1\n  ff_out: 0.1"
            ),
        ),
        (
            "position: {kind: rope, scaling: {linear: {factor: 2}}}",
            "position: {kind: rope, scaling: {kind: linear, factor: 2}}",
        ),
    ],
)
def test_short_forms(short, full):
    assert read(TINY + short + "\n").spec == read(TINY + full + "\n").spec


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("bias: true", "bias: {q: true, k: true, v: true, o: true}"),
        ("scale: 1", "scale: one"),
        ("scale: 1.0", "scale: one"),
        ("qk_norm: rms", "qk_norm: {kind: rms}"),
        ("qk_norm: rms", "qk_norm: {over: head}"),
        ("qk_norm: l2", "qk_norm: {kind: l2}"),
        ("qk_norm: none", "qk_norm: null"),
    ],
)
def test_short_forms_of_attention(short, full):
    def attention(text):
        return read(changed("{n_heads: 4}", f"{{n_heads: 4, {text}}}")).spec

    assert attention(short) == attention(full)


def test_defaults_of_a_decoder():
    spec = read(TINY).spec
    assert spec.features == ("cache", "generate")
    assert spec.outputs == ()
    assert [head.kind for head in spec.heads] == ["language_model"]
    stack = spec.stacks[0]
    assert (stack.name, stack.pattern, stack.n_layers) == ("decoder", ("layer",), 2)
    layer = stack.types["layer"]
    assert layer.norm == schema.Norm(kind="layer", eps=1e-6, weight="w", bias=True, cast="native")
    assert stack.final_norm == layer.norm
    assert layer.block.sublayers == ("attention", "feed_forward")
    assert (layer.attention.n_kv_heads, layer.attention.head_dim) == (4, 8)
    assert layer.attention.scale == "inv_sqrt_head_dim"
    assert layer.cross_attention is None
    assert layer.position == schema.Learned(kind="learned", offset=0, index="mask")


def test_defaults_that_depend_on_the_kind():
    encoder = read(changed("decoder", "encoder")).spec
    assert (encoder.features, encoder.heads[0].kind) == ((), "features")
    assert read(PAIR).spec.features == ("cache", "generate")
    head = "head: features\n"
    assert read(TINY + head).spec.features == ("cache",)
    features = read(SET).spec
    assert (features.vocab_size, features.embedding) == (None, None)
    assert features.stacks[0].name == "encoder"
    layer = features.stacks[0].types["layer"]
    assert layer.block.sublayers == ("cross_attention", "feed_forward")
    assert layer.attention is None
    assert layer.cross_attention.n_heads == 4
    assert layer.position.kind == "none"
    first, second = read(PAIR).spec.stacks
    assert (first.name, second.name) == ("encoder", "decoder")
    assert first.types["layer"].block.sublayers == ("attention", "feed_forward")
    assert second.types["layer"].block.sublayers == ("attention", "cross_attention", "feed_forward")


@pytest.mark.parametrize(
    ("placement", "has_one"),
    [
        ("pre-norm", True),
        ("sandwich-norm", True),
        ("post-sublayer-norm", True),
        ("post-norm", False),
    ],
)
def test_the_final_norm_follows_from_the_placement(placement, has_one):
    assert (read(changed("pre-norm", placement)).spec.stacks[0].final_norm is not None) is has_one


def test_partial_norms_start_from_the_base_norm():
    text = TINY + (
        "norm: {kind: rms, eps: 1e-5, weight: one_plus_w, cast: after_weight}\n"
        "final_norm: {eps: 1e-4}\nembedding: {norm: {weight: none}}\n"
    ).replace("norm: {kind", "norm: {kind")
    spec = read(changed("{n_heads: 4}", "{n_heads: 4, qk_norm: {over: head}}", text)).spec
    final, embedded = spec.stacks[0].final_norm, spec.embedding.norm
    qk_norm = spec.stacks[0].types["layer"].attention.qk_norm
    assert (final.kind, final.eps, final.weight, final.cast) == (
        "rms",
        1e-4,
        "one_plus_w",
        "after_weight",
    )
    assert (embedded.eps, embedded.weight) == (1e-5, "none")
    assert (qk_norm.eps, qk_norm.weight, qk_norm.cast) == (1e-5, "one_plus_w", "after_weight")


def test_a_changed_kind_starts_anew():
    spec = read(TINY + "norm: {eps: 1e-5, bias: false}\nfinal_norm: rms\n").spec
    final = spec.stacks[0].final_norm
    assert (final.kind, final.eps, final.cast) == ("rms", 1e-6, "before_weight")


def test_bias_and_cast_follow_from_a_partial_norms_own_weight():
    assert read(TINY + "final_norm: {weight: none}\n").spec.stacks[0].final_norm.bias is False


def test_a_qk_norm_of_another_kind_keeps_the_base_eps():
    text = changed("{n_heads: 4}", "{n_heads: 4, qk_norm: rms}") + "norm: {eps: 1e-5}\n"
    assert layer(text).attention.qk_norm.eps == 1e-5


def test_layer_types_override_base_parts():
    text = TINY + (
        "position: {kind: rope, theta: 10000, fraction: 0.5}\n"
        "layers:\n  pattern: [local, global]\n"
        "  types:\n    local: {attention: {n_kv_heads: 2}}\n"
        "    global: {position: {theta: 1000000}, norm: {kind: rms}, attention: {head_dim: null}}\n"
    )
    local, far = layer(text, 0, "local"), layer(text, 0, "global")
    assert (local.position.theta, far.position.theta) == (10000.0, 1000000.0)
    assert far.position.fraction == 0.5
    assert (local.norm.kind, far.norm.kind) == ("layer", "rms")
    assert (local.attention.n_kv_heads, far.attention.n_kv_heads) == (2, 4)


def test_a_changed_kind_replaces_the_whole_node():
    text = TINY + (
        "position: {kind: rope, theta: 5000}\n"
        "layers: {pattern: [a, b], types: {a: {}, b: {position: {kind: none}}}}\n"
    )
    assert layer(text, 0, "b").position == schema.NoPosition(kind="none")


def test_null_removes_what_a_base_part_set():
    text = changed("{n_heads: 4}", "{n_heads: 4, qk_norm: rms, head_dim: 16}") + (
        "layers:\n  pattern: [a, b]\n"
        "  types: {a: {}, b: {attention: {qk_norm: null, head_dim: null}}}\n"
    )
    assert layer(text, 0, "a").attention.qk_norm is not None
    assert layer(text, 0, "b").attention.qk_norm is None
    assert layer(text, 0, "b").attention.head_dim == 8


def test_stacks_override_base_parts_and_types_override_stacks():
    text = PAIR + (
        "encoder: {n_layers: 3, norm: layer, final_norm: false}\n"
        "decoder:\n  attention: {n_kv_heads: 2}\n  layers:\n    pattern: [a, b]\n"
        "    types: {a: {}, b: {attention: {n_kv_heads: 1}}}\n"
    )
    encoder, decoder = read(text).spec.stacks
    assert (encoder.n_layers, decoder.n_layers) == (3, 2)
    assert (encoder.types["layer"].norm.kind, encoder.final_norm) == ("layer", None)
    assert decoder.final_norm.kind == "rms"
    assert [decoder.types[name].attention.n_kv_heads for name in "ab"] == [2, 1]


def test_cross_attention_starts_from_attention():
    text = changed("{n_heads: 4}", "{n_heads: 4, bias: true, scale: 1}", PAIR)
    decoder = layer(text + "cross_attention: {n_heads: 2, bias: {k: false}}\n", 1)
    assert decoder.cross_attention.n_heads == 2
    assert decoder.cross_attention.head_dim == 16
    assert decoder.cross_attention.scale == "one"
    assert decoder.cross_attention.bias == schema.Bias(q=True, k=False, v=True, o=True)
    assert decoder.attention.n_heads == 4


def test_heads():
    text = changed("decoder", "encoder").replace("gelu", "gelu, tied") + (
        "norm: {eps: 1e-12}\n"
        "head:\n- {kind: masked_language_model, activation: gelu_erf}\n"
        "- {kind: classifier, pool: first, pooler: tanh, n_classes: 2, name: order}\n"
    )
    first, second = read(text).spec.heads
    assert (first.tied, first.bias, first.norm.eps) == (True, True, 1e-12)
    assert (second.name, second.n_classes, second.bias) == ("order", 2, True)


def test_style_words():
    spec = read(changed("gelu", "RMS-Norm, SwiGLU,  tied weights, no bias, MQA, qk_norm")).spec
    layer = spec.stacks[0].types["layer"]
    assert (layer.norm.kind, layer.feed_forward.kind, layer.feed_forward.activation) == (
        "rms",
        "glu",
        "silu",
    )
    assert spec.heads[0].tied
    assert spec.embedding.shared is False
    assert layer.attention.n_kv_heads == 1
    assert layer.attention.qk_norm.kind == "rms"


def test_tied_weights_share_the_tables_of_an_encoder_decoder():
    assert read(changed("swiglu", "swiglu, tied weights", PAIR)).spec.embedding.shared


def test_the_body_overrides_the_style():
    loaded = read(TINY + "norm: {eps: 1e-5}\nblock: {norm_placement: post}\n")
    assert loaded.spec.stacks[0].types["layer"].block.norm_placement == "post"
    assert {f.path: f.origin for f in loaded.effective}["block.norm_placement"] == "body"


def test_every_style_word_stands_alone():
    from specc.spec.style import TABLE

    needs = "specc: 1\nname: x\nstyle: {}\n"
    for word in TABLE:
        message = str(refused(needs.format(word)))
        assert "unknown style word" not in message


def test_places_and_origins():
    loaded = read(changed("64", "2 * d_model"))
    here = ("stacks", 0, "types", "layer", "feed_forward", "d_ff")
    assert loaded.position_of(here) == Position(9, 22)
    assert loaded.position_of(("feed_forward", "d_ff")) == Position(9, 22)
    assert loaded.position_of(("block", "norm_placement")) == Position(3, 17)
    assert loaded.position_of(("attention", "n_kv_heads")) == Position(8, 12)
    assert loaded.position_of(("name",)) == Position(2, 7)
    assert loaded.origin_of(here) == "body"
    assert loaded.origin_of(("stacks", 0, "types", "layer", "position", "kind")) == "style"
    assert loaded.origin_of(("stacks", 0, "types", "layer", "position", "offset")) == "default"
    assert loaded.origin_of(("stacks", 0, "types", "layer", "attention", "head_dim")) == "derived"


def test_effective_values_stand_where_a_person_writes_them():
    text = PAIR + "decoder: {attention: {n_kv_heads: 2}}\ncross_attention: {bias: {q: true}}\n"
    found = values(text)
    assert found["attention.n_heads"] == 4
    assert found["attention.n_kv_heads"] == 4
    assert found["decoder.attention.n_kv_heads"] == 2
    assert found["cross_attention.bias.q"] is True
    assert found["final_norm"] is True
    assert found["encoder.block.sublayers"] == ("attention", "feed_forward")
    assert list(found)[:3] == ["specc", "name", "kind"]


def test_effective_values_of_layer_types():
    text = TINY + (
        "position: {kind: rope, theta: 10000}\n"
        "layers: {pattern: [a, b], types: {a: {}, b: {position: {theta: 5}}}}\n"
    )
    found = values(text)
    assert found["position.theta"] == 10000.0
    assert found["layers.types.b.position.theta"] == 5.0
    assert found["layers.pattern"] == ("a", "b")
    assert found["position.layout"] == "half"


def test_loading_does_not_depend_on_the_order_of_keys():
    head, *lines = TINY.splitlines()
    assert read("\n".join([head, *reversed(lines)])).spec == read(TINY).spec
