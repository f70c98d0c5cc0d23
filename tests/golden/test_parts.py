"""Parts of the golden library against their formulas written once more, and each other."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from specc.golden import Inputs, run
from specc.golden.frequencies import Turns, rotary_frequencies
from specc.golden.heads import pooled
from specc.golden.positions import alibi_bias, alibi_slopes, rotate, sinusoids
from specc.golden.products import Sequence
from specc.ir.attention import AttentionSource, Factor, InverseSqrt, NormOver, Unscaled
from specc.ir.block import EmbeddingScale, Wiring
from specc.ir.heads import Pool
from specc.ir.layers import Activation, NormWeight
from specc.ir.model import Kind
from specc.ir.parameters import attention_parameters, feed_forward_parameters
from specc.ir.positions import PositionIndex, RotaryLayout
from specc.ir.sizes import Constant, Size
from tests.golden import models as m
from tests.golden.compare import gap, run_attention, run_block
from tests.golden.weights import stress_weights

B, T, S, D, H, K, E = 3, 5, 7, m.D_MODEL.value, m.N_HEADS.value, m.N_KV_HEADS.value, 6
EXACT = 1e-13


def random(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def weights_for(part):
    return {p.path: random(*p.shape) / 3 for p in attention_parameters(part, "")}


def split(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def by_sdpa(part, w, x, edit=lambda q, k: (q, k), mask=None, scale=None):
    """Attention over itself through torch's fused kernel; `edit` changes q and k as heads."""
    q, k, v = (F.linear(x, w[f"{n}_proj.weight"], w[f"{n}_proj.bias"]) for n in "qkv")
    q, k = edit(split(q, H), split(k, K))
    causal = mask is None
    y = F.scaled_dot_product_attention(
        q, k, split(v, K), mask, is_causal=causal, scale=scale, enable_gqa=True
    )
    return F.linear(y.transpose(1, 2).flatten(-2), w["o_proj.weight"], w["o_proj.bias"])


@pytest.mark.parametrize(
    ("scale", "value"),
    [
        (InverseSqrt(m.HEAD_DIM), E**-0.5),
        (InverseSqrt(m.D_MODEL), D**-0.5),
        (Factor(Constant("attention_scale", 0.3)), 0.3),
        (Unscaled(), 1.0),
    ],
)
def test_scales(scale, value):
    part = m.attention(scale=scale)
    w, x = weights_for(part), random(B, T, D)
    assert gap(run_attention(part, w, x)[0], by_sdpa(part, w, x, scale=value)) < EXACT


@pytest.mark.parametrize("over", [NormOver.HEAD, NormOver.FULL])
@pytest.mark.parametrize("weight", [NormWeight.PLAIN, NormWeight.NONE, NormWeight.ONE_PLUS])
def test_qk_norm(over, weight):
    part = m.attention(norm=m.qk_norm(over, weight))
    w, x = weights_for(part), random(B, T, D)

    def normed(heads, name):
        gain = w.get(f"{name}.weight")
        gain = 1 + gain if weight is NormWeight.ONE_PLUS else gain
        if over is NormOver.HEAD:
            return F.rms_norm(heads, (E,), gain, 1e-6)
        flat = heads.transpose(1, 2).flatten(-2)
        return split(F.rms_norm(flat, flat.shape[-1:], gain, 1e-6), heads.shape[1])

    expected = by_sdpa(part, w, x, lambda q, k: (normed(q, "q_norm"), normed(k, "k_norm")))
    assert gap(run_attention(part, w, x)[0], expected) < EXACT


@pytest.mark.parametrize("learned", [True, False])
def test_l2_norm_with_a_temperature_of_each_query_head(learned):
    part = m.attention(norm=m.qk_l2_norm(learned, eps=0.5), scale=Unscaled())
    w, x = weights_for(part), random(B, T, D) * torch.logspace(-2, 0, T)[:, None]
    x[:, 0] = 0
    factor = w["log_scale"].exp()[:, None, None] if learned else 1.0
    expected = by_sdpa(
        part,
        w,
        x,
        lambda q, k: (F.normalize(q, dim=-1, eps=0.5) * factor, F.normalize(k, dim=-1, eps=0.5)),
        scale=1.0,
    )
    assert gap(run_attention(part, w, x)[0], expected) < EXACT


@pytest.mark.parametrize("source", list(AttentionSource))
@pytest.mark.parametrize("bias", [True, False])
def test_fused_rows_are_all_of_q_then_k_then_v(source, bias):
    biases = (bias, bias, bias, True)
    separate = m.attention(source=source, causal=False, bias=biases)
    fused = m.attention(source=source, causal=False, bias=biases, fused=True)
    w = weights_for(separate)
    joint = {name: tensor for name, tensor in w.items() if name.startswith("o_proj")}
    for kind in ("weight", "bias") if bias else ("weight",):
        joint[f"qkv_proj.{kind}"] = torch.cat([w[f"{n}_proj.{kind}"] for n in "qkv"])
    x, memory = random(B, T, D), random(B, S, D)
    expected, _ = run_attention(separate, w, x, memory=memory)
    assert gap(run_attention(fused, joint, x, memory=memory)[0], expected) < EXACT


def test_grouped_heads_equal_repeated_keys_and_values():
    grouped, full = m.attention(), m.attention(n_kv_heads=m.N_HEADS)
    w, x = weights_for(grouped), random(B, T, D)
    wide = dict(w)
    for name in ("k_proj.weight", "k_proj.bias", "v_proj.weight", "v_proj.bias"):
        wide[name] = w[name].unflatten(0, (K, E)).repeat_interleave(H // K, 0).flatten(0, 1)
    assert gap(run_attention(grouped, w, x)[0], run_attention(full, wide, x)[0]) < EXACT


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("n_heads", [4, 6])
def test_alibi(causal, n_heads):
    heads = m.sized(m.N_HEADS, n_heads)
    part = m.attention(causal=causal, n_heads=heads, n_kv_heads=heads, position=m.alibi(heads))
    w, x = weights_for(part), random(B, T, D)
    place = torch.arange(T, dtype=torch.float64)
    distance = place[None] - place[:, None]
    bias = torch.tensor(alibi_slopes(n_heads), dtype=torch.float64)[:, None, None]
    bias = bias * (distance if causal else -distance.abs())
    if causal:
        bias = bias.masked_fill(distance > 0, -math.inf)
    q, k, v = (F.linear(x, w[f"{n}_proj.weight"], w[f"{n}_proj.bias"]) for n in "qkv")
    heads_of = [split(t, n_heads) for t in (q, k, v)]
    y = F.scaled_dot_product_attention(*heads_of, attn_mask=bias)
    expected = F.linear(y.transpose(1, 2).flatten(-2), w["o_proj.weight"], w["o_proj.bias"])
    assert gap(run_attention(part, w, x)[0], expected) < EXACT


def test_alibi_bias_of_the_last_queries():
    assert torch.equal(alibi_bias(0.5, 2, 5), alibi_bias(0.5, 5, 5)[3:])


@pytest.mark.parametrize("layout", list(RotaryLayout))
def test_scores_of_turned_heads_depend_on_the_distance_only(layout):
    frequencies = Turns(rotary_frequencies(4, 100.0))
    q, k = random(1, E), random(1, E)

    def score(i, j):
        turned = [rotate(v, torch.tensor([p]), frequencies, layout) for v, p in ((q, i), (k, j))]
        return float(turned[0] @ turned[1].T)

    assert score(7, 3) == pytest.approx(score(104, 100), abs=1e-12)
    assert abs(score(7, 3) - score(7, 4)) > 1e-3


def test_rotary_by_complex_numbers():
    """Interleaved pairs are complex numbers; the halves are the same after a permutation."""
    frequencies = torch.tensor(rotary_frequencies(E, 50.0), dtype=torch.float64)
    x, places = random(B, H, T, E), torch.randint(0, 9, (B, 1, T))
    turns = torch.polar(torch.ones(()).double(), places[..., None] * frequencies)
    pairs = torch.view_as_complex(x.unflatten(-1, (E // 2, 2)))
    expected = torch.view_as_real(pairs * turns).flatten(-2)
    found = rotate(x, places, Turns(frequencies.tolist()), RotaryLayout.INTERLEAVED)
    assert gap(found, expected) < EXACT


@pytest.mark.parametrize("index", [PositionIndex.MASK, PositionIndex.ARANGE])
def test_rotary_places_under_left_padding(index):
    part = m.attention(position=m.rotary(index=index, theta=10.0))
    w, x = weights_for(part), random(B, T, D)
    real = torch.arange(T)[None] >= torch.tensor([0, 2, 3])[:, None]
    found, trace = run_attention(part, w, x, real)
    shorter, short = run_attention(part, w, x[1:2, 2:], torch.ones(1, T - 2, dtype=torch.bool))
    assert gap(found[1:2, 2:], shorter) < EXACT  # scores know distances only
    same = torch.allclose(trace["attention:q"][1:2, :, 2:], short["attention:q"])
    assert same == (index is PositionIndex.MASK)


def test_an_all_padded_memory_gives_the_output_bias():
    part = m.attention(source=AttentionSource.MEMORY, causal=False)
    w = weights_for(part)
    real = torch.tensor([[True] * S, [True] + [False] * (S - 1), [False] * S])
    found, trace = run_attention(part, w, random(B, T, D), None, random(B, S, D), real)
    assert trace["attention:heads"][2].eq(0).all()
    assert torch.equal(found[2], w["o_proj.bias"].expand(T, D))
    assert trace["attention:weights"][1].eq(torch.eye(S, dtype=torch.float64)[0]).all()


@pytest.mark.parametrize("causal", [True, False])
def test_a_padded_query_sees_itself_and_no_other_padding(causal):
    part = m.attention(causal=causal)
    real = torch.tensor([[False, False, True, True, False]])
    _, trace = run_attention(part, weights_for(part), random(1, T, D), real)
    seen = trace["attention:weights"][0, 0] > 0
    before = torch.ones(T, T).tril().bool() if causal else torch.ones(T, T).bool()
    assert torch.equal(seen, before & (real | torch.eye(T).bool()))


@pytest.mark.parametrize("kind", list(Activation))
def test_gated_feed_forward(kind):
    part = m.block([m.glu(kind, bias=True)], m.layer_norm(), "pre")
    body = part.sublayers[0].body
    w = {p.path: random(*p.shape) for p in feed_forward_parameters(body, "feed_forward.")}
    w |= {"feed_forward_norm.weight": random(D), "feed_forward_norm.bias": random(D)}
    formulas = {
        Activation.RELU: F.relu,
        Activation.RELU_SQUARED: lambda y: F.relu(y) ** 2,
        Activation.GELU_ERF: F.gelu,
        Activation.GELU_TANH: lambda y: F.gelu(y, approximate="tanh"),
        Activation.SILU: F.silu,
        Activation.TANH: torch.tanh,
    }
    x = random(B, T, D)
    y = F.layer_norm(x, (D,), w["feed_forward_norm.weight"], w["feed_forward_norm.bias"])

    def linear(name, value):
        return F.linear(value, w[f"feed_forward.{name}.weight"], w[f"feed_forward.{name}.bias"])

    expected = x + linear(
        "down_proj", formulas[kind](linear("gate_proj", y)) * linear("up_proj", y)
    )
    assert gap(run_block(part, w, x), expected) < EXACT


def below(weights, prefix):
    return {k[len(prefix) :]: w for k, w in weights.items() if k.startswith(prefix)}


@pytest.mark.parametrize(
    ("wiring", "slots", "shared"),
    [
        (Wiring.SEQUENTIAL, "pre", False),
        (Wiring.SEQUENTIAL, "post", False),
        (Wiring.SEQUENTIAL, "sandwich", False),
        (Wiring.SEQUENTIAL, "post_sublayer", False),
        (Wiring.PARALLEL, "pre", True),
        (Wiring.PARALLEL, "pre", False),
        (Wiring.PARALLEL, "sandwich", False),
        (Wiring.PARALLEL, "post_sublayer", False),
    ],
)
def test_wiring_with_every_norm_its_own_weights(wiring, slots, shared):
    bodies = [m.attention(), m.mlp()]
    part = m.block(bodies, m.layer_norm(), slots, wiring, shared)
    w = below(stress_weights(m.decoder(part)), "layers.0.")
    x = random(B, T, D)

    def norm(name, y):
        return F.layer_norm(y, (D,), w[f"{name}.weight"], w[f"{name}.bias"])

    def attend(y):
        return by_sdpa(bodies[0], below(w, "attention."), y)

    def feed(y):
        up = F.linear(y, w["feed_forward.up_proj.weight"], w["feed_forward.up_proj.bias"])
        down = (w["feed_forward.down_proj.weight"], w["feed_forward.down_proj.bias"])
        return F.linear(F.gelu(up), *down)

    def branch(name, body, y):
        first = "norm" if shared else f"{name}_norm"
        if slots in ("pre", "sandwich"):
            y = norm(first, y)
        y = body(y)
        if slots == "sandwich":
            return norm(f"{name}_post_norm", y)
        return norm(first, y) if slots == "post_sublayer" else y

    a = branch("attention", attend, x)
    if wiring is Wiring.PARALLEL:
        expected = x + a + branch("feed_forward", feed, x)
    else:
        y = norm("attention_norm", x + a) if slots == "post" else x + a
        z = y + branch("feed_forward", feed, y)
        expected = norm("feed_forward_norm", z) if slots == "post" else z
    assert gap(run_block(part, w, x), expected) < EXACT


def test_a_parallel_block_has_no_norm_after_the_sum():
    part = m.block([m.attention(), m.mlp()], m.layer_norm(), "post", Wiring.PARALLEL)
    w = below(stress_weights(m.decoder(part)), "layers.0.")
    with pytest.raises(ValueError, match="after the sum"):
        run_block(part, w, random(B, T, D))


def embedded(inputs, tokens, **given):
    """What an encoder with no layers makes of its tokens, and its weights."""
    stack = m.stack(
        inputs,
        [m.block([m.attention(causal=False)], m.layer_norm())],
        name="encoder",
        n_layers=m.sized(m.N_LAYERS, 0),
    )
    model = m.model(Kind.ENCODER, [stack], [m.FeaturesHead("features")])
    w = stress_weights(model)
    return run(model, w, Inputs(tokens=tokens, **given)).outputs["features"], w


@pytest.mark.parametrize(
    ("scale", "factor"),
    [
        (EmbeddingScale.ONE, 1.0),
        (EmbeddingScale.SQRT_WIDTH, math.sqrt(D)),
        (Constant("embedding_scale", 12.0), 12.0),
    ],
)
@pytest.mark.parametrize("index", [PositionIndex.MASK, PositionIndex.ARANGE])
@pytest.mark.parametrize("offset", [0, 2])
def test_token_input(scale, factor, index, offset):
    tokens, types = torch.randint(0, 29, (2, T)), torch.randint(0, 3, (2, T))
    real = torch.tensor([[True] * T, [False, False, True, True, False]])
    inputs = m.token_input(
        scale=scale,
        types=True,
        position=m.learned(offset, index),
        norm=m.layer_norm("embedding_norm"),
    )
    found, w = embedded(inputs, tokens, token_mask=real, token_types=types)
    places = torch.tensor([[0, 1, 2, 3, 4], [0, 0, 0, 1, 1]])
    if index is PositionIndex.ARANGE:
        places = torch.arange(T).expand(2, T)
    total = factor * w["embedding.weight"][tokens] + w["type_embedding.weight"][types]
    total = total + w["position_embedding.weight"][places + offset]
    expected = F.layer_norm(total, (D,), w["embedding_norm.weight"], w["embedding_norm.bias"])
    assert gap(found, expected) < EXACT
    without, _ = embedded(inputs, tokens, token_mask=real)
    zeros, _ = embedded(inputs, tokens, token_mask=real, token_types=torch.zeros_like(tokens))
    assert torch.equal(without, zeros)


def test_sinusoids_are_added_after_the_scale():
    tokens = torch.randint(0, 29, (2, T))
    part = m.sinusoidal()
    inputs = m.token_input(scale=EmbeddingScale.SQRT_WIDTH, position=part)
    found, w = embedded(inputs, tokens)
    table = sinusoids(torch.arange(T), D, part.layout, part.frequency)
    assert gap(found, math.sqrt(D) * w["embedding.weight"][tokens] + table) < EXACT


def test_pools():
    x = random(3, T, D)
    real = torch.tensor([[True] * T, [False, True, True, False, False], [False] * T])
    assert torch.equal(pooled(Pool.FIRST, Sequence(x, real)), x[:, 0])
    mean = pooled(Pool.MEAN, Sequence(x, real))
    assert gap(mean[:2], torch.stack([x[0].mean(0), x[1, 1:3].mean(0)])) < EXACT
    assert mean[2].eq(0).all()
    assert gap(pooled(Pool.MEAN, Sequence(x, None)), x.mean(1)) < EXACT


@pytest.mark.parametrize("pool", list(Pool))
@pytest.mark.parametrize("pooler", [True, False])
def test_classifier(pool, pooler):
    stack = m.stack(
        m.token_input(),
        [m.block([m.attention(causal=False), m.mlp()], m.layer_norm())],
        name="encoder",
    )
    heads = [m.FeaturesHead("features"), m.classifier(pool, pooler)]
    model = m.model(Kind.ENCODER, [stack], heads)
    w = stress_weights(model)
    real = torch.tensor([[True] * T, [True, True, True, False, False]])
    out = run(model, w, Inputs(tokens=torch.randint(0, 29, (2, T)), token_mask=real)).outputs
    y = pooled(pool, Sequence(out["features"], real))
    if pooler:
        y = torch.tanh(F.linear(y, w["pooler.weight"], w["pooler.bias"]))
    expected = F.linear(y, w["classifier.weight"], w["classifier.bias"])
    assert gap(out["class_logits"], expected) < EXACT


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_language_model_head(tied, bias):
    inputs = m.token_input()
    stack = m.stack(inputs, [m.block([m.attention()], m.layer_norm())])
    head = m.tied_head(inputs, bias) if tied else m.untied_head(bias)
    model = m.model(Kind.DECODER, [stack], [m.FeaturesHead("features"), head])
    w = stress_weights(model)
    out = run(model, w, Inputs(tokens=torch.randint(0, 29, (2, T)))).outputs
    matrix = w["embedding.weight" if tied else "head.weight"]
    shift = w["head_bias" if tied else "head.bias"] if bias else None
    assert gap(out["logits"], F.linear(out["features"], matrix, shift)) < EXACT


def test_partial_rotary_leaves_the_rest():
    turned = Size("rotary_dim", 4, "R")
    part = m.attention(position=m.rotary(rotary_dim=turned))
    w, x = weights_for(part), random(B, T, D)
    _, trace = run_attention(part, w, x)
    plain = split(F.linear(x, w["q_proj.weight"], w["q_proj.bias"]), H)
    assert torch.allclose(trace["attention:q"][..., 4:], plain[..., 4:])
    assert not torch.allclose(trace["attention:q"][..., 1:, :4], plain[..., 1:, :4])
