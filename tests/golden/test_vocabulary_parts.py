"""Rarer parts of the golden library against their formulas written once more."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F

from specc.golden import Inputs, run
from specc.golden.blocks import Step, parallel, sequential
from specc.golden.feed_forward import feed_forward
from specc.golden.initial import initial_moments
from specc.golden.scope import Scope
from specc.ir.attention import AttentionSource, NormOver
from specc.ir.block import ProjectAt, Residual
from specc.ir.feed_forward import Apply, Score
from specc.ir.init import FanInUniform, XavierUniform
from specc.ir.layers import DropoutSite
from specc.ir.model import Kind
from specc.ir.parameters import attention_parameters, feed_forward_parameters, parameters
from specc.ir.positions import PositionIndex
from specc.ir.sizes import Constant
from specc.ir.walk import resize
from tests.golden import models as m
from tests.golden import models_attention as ma
from tests.golden import models_experts as mx
from tests.golden import models_wide as mw
from tests.golden.compare import gap, run_attention, run_block
from tests.golden.vectors import is_close, tensor
from tests.golden.weights import stress_weights

B, T, S, D, H, K, E = 3, 5, 7, m.D_MODEL.value, m.N_HEADS.value, m.N_KV_HEADS.value, 6
EXACT = 1e-13


def random(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def weights_for(part):
    return {p.path: random(*p.shape) / 3 for p in attention_parameters(part, "")}


def linear(w, name, x):
    return F.linear(x, w[f"{name}.weight"], w.get(f"{name}.bias"))


def test_the_gate_multiplies_the_merged_heads():
    plain = m.attention()
    part = replace(plain, gate=ma.gate(bias=True))
    w, x = weights_for(part), random(B, T, D)
    found, trace = run_attention(part, w, x)
    merged = trace["attention:heads"].transpose(1, 2).flatten(-2)
    expected = linear(w, "o_proj", merged * torch.sigmoid(linear(w, "gate_proj", x)))
    assert gap(found, expected) < EXACT
    assert list(trace)[-3:] == ["attention:heads", "attention.gate_proj", "attention.o_proj"]
    without = {name: tensor for name, tensor in w.items() if "gate" not in name}
    _, ungated = run_attention(plain, without, x)
    assert torch.equal(ungated["attention:heads"], trace["attention:heads"])


@pytest.mark.parametrize("fused", [True, False])
def test_projections_are_clamped_before_they_are_normed(fused):
    part = m.attention(fused=fused, norm=m.qk_norm())
    part = replace(part, clip=Constant("clip_qkv", 0.3))
    w, x = weights_for(part), random(B, T, D)
    _, trace = run_attention(part, w, x)
    q = trace[f"attention.{'qkv' if fused else 'q'}_proj"][..., : H * E]
    assert q.abs().max() > 0.3  # what the module gives is not clamped
    heads = q.clamp(-0.3, 0.3).unflatten(-1, (H, E)).transpose(1, 2)
    expected = F.rms_norm(heads, (E,), w["q_norm.weight"], 1e-6)
    assert gap(trace["attention:q"], expected) < EXACT
    assert not torch.equal(trace["attention:heads"][:, 0, 0], torch.zeros(B, E))
    v = trace[f"attention.{'qkv' if fused else 'v'}_proj"][..., -K * E :].clamp(-0.3, 0.3)
    assert gap(trace["attention:heads"][:, 0, 0], v[:, 0, :E]) < EXACT  # the first sees itself


@pytest.mark.parametrize("over", list(NormOver))
def test_norms_after_the_turn(over):
    norm = ma.per_head_norm() if over is NormOver.PER_HEAD else m.qk_norm(over)
    position = m.rotary(theta=3.0)
    part = m.attention(norm=replace(norm, after_turn=True), position=position)
    bare = m.attention(position=position)
    w, x = weights_for(part), random(B, T, D)
    _, trace = run_attention(part, w, x)
    kept = {name: tensor for name, tensor in w.items() if "norm" not in name}
    _, turned = run_attention(bare, kept, x)
    for name in "qk":
        heads, gain = turned[f"attention:{name}"], w[f"{name}_norm.weight"]
        match over:
            case NormOver.HEAD:
                expected = F.rms_norm(heads, (E,), gain, 1e-6)
            case NormOver.PER_HEAD:
                expected = F.layer_norm(heads, (E,), None, None, 1e-5) * gain[:, None]
            case NormOver.FULL:
                flat = heads.transpose(1, 2).flatten(-2)
                flat = F.rms_norm(flat, flat.shape[-1:], gain, 1e-6)
                expected = flat.unflatten(-1, (-1, E)).transpose(1, 2)
        assert gap(trace[f"attention:{name}"], expected) < EXACT
        before = run_attention(m.attention(norm=norm, position=position), w, x)[1]
        assert gap(before[f"attention:{name}"], expected) > 1e-2


def test_a_per_head_bias_and_a_wrong_number_of_heads():
    part = m.attention(norm=ma.per_head_norm(bias=True))
    w, x = weights_for(part), random(B, T, D)
    _, trace = run_attention(part, w, x)
    heads = linear(w, "k_proj", x).unflatten(-1, (K, E)).transpose(1, 2)
    gain, shift = w["k_norm.weight"][:, None], w["k_norm.bias"][:, None]
    expected = F.layer_norm(heads, (E,), None, None, 1e-5) * gain + shift
    assert gap(trace["attention:k"], expected) < EXACT
    wrong = replace(part, qk_norm=ma.per_head_norm(n_kv_heads=m.N_HEADS, bias=True))
    with pytest.raises(ValueError, match="k_norm norms 4 heads, got 2"):
        run_attention(wrong, weights_for(wrong), x)


def test_a_memory_is_not_near_or_far():
    part = m.attention(source=AttentionSource.MEMORY, causal=False)
    part = replace(part, reach=ma.window(2))
    with pytest.raises(ValueError, match="near a query or far"):
        run_attention(part, weights_for(part), random(B, T, D), memory=random(B, S, D))


def test_a_bias_of_distance_is_added_after_the_cap():
    part = m.attention(n_kv_heads=m.N_HEADS, position=m.alibi())
    part = replace(part, softcap=Constant("attention_softcap", 0.5), sinks=ma.sinks())
    w, x = weights_for(part), random(1, T, D)
    _, trace = run_attention(part, w, x)
    q, k = trace["attention:q"][0, 3], trace["attention:k"][0, 3]
    scores = 0.5 * torch.tanh(q @ k.T / E**0.5 / 0.5)
    place = torch.arange(T)
    scores = scores + 2.0**-8 * (place[None] - place[:, None])
    scores = scores.masked_fill(place[None] > place[:, None], -torch.inf)
    sink = w["sinks"][3].expand(T, 1)
    expected = torch.softmax(torch.cat([scores, sink], -1), -1)[:, :-1]
    assert gap(trace["attention:weights"][0, 3], expected) < EXACT


def experts_of(part, x):
    """The output of a mixture by itself, its weights and its trace."""
    w = {p.path: random(*p.shape) / 3 for p in feed_forward_parameters(part, "moe.")}
    scope = Scope(w, {}, None, "moe")
    return feed_forward(part, scope, x), {n.removeprefix("moe."): t for n, t in w.items()}, scope


@pytest.mark.parametrize("apply", list(Apply))
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("clamped", [True, False])
def test_every_expert_on_every_token_and_then_the_chosen_ones(apply, bias, clamped):
    clamp = mx.clamp(limit=0.5) if clamped else None
    router = mx.router(bias=bias, apply=apply, scale=2.0)
    part = mx.mixture(router, mx.experts(bias, clamp), mx.shared(gate=True))
    x = random(B, T, D)
    found, w, scope = experts_of(part, x)
    p = torch.softmax(linear(w, "router", x), -1)
    kept = torch.where(p >= p.topk(3).values[..., -1:], 2 * p, 0.0).unsqueeze(-2)  # [B, T, 1, X]

    def of_all(name, y):
        z = torch.einsum("btix,xoi->btox", y, w[name])
        return z + w[f"{name}_bias"].T if bias else z

    seen = x[..., None].expand(B, T, D, 8) * (kept if apply is Apply.INPUT else 1)
    gate, up = of_all("gate_proj", seen), of_all("up_proj", seen)
    hidden = F.silu(gate) * up
    if clamped:
        g, u = gate.clamp(max=0.5), up.clamp(-0.5, 0.5)
        hidden = (u + 1) * g * torch.sigmoid(1.702 * g)
    made = of_all("down_proj", hidden)
    routed = (made * ((kept > 0) if apply is Apply.INPUT else kept)).sum(-1)
    y = F.silu(linear(w, "shared.gate_proj", x)) * linear(w, "shared.up_proj", x)
    shared = linear(w, "shared.down_proj", y) * torch.sigmoid(linear(w, "shared_gate", x))
    assert gap(found, routed + shared) < EXACT
    assert list(scope.trace) == [
        "moe.router",
        "moe:experts",
        "moe:expert_weights",
        "moe.shared.gate_proj",
        "moe.shared.up_proj",
        "moe.shared.down_proj",
        "moe.shared",
        "moe.shared_gate",
    ]


def test_the_router_scores_in_float32_at_least():
    part = mx.mixture(mx.router(Score.SIGMOID, top_k=1))
    x = random(1, 2, D).to(torch.bfloat16)
    w = {p.path: random(*p.shape) for p in feed_forward_parameters(part, "moe.")}
    scope = Scope({name: t.to(torch.bfloat16) for name, t in w.items()}, {}, None, "moe")
    found = feed_forward(part, scope, x)
    assert found.dtype is torch.bfloat16
    best = scope.trace["moe.router"].float().max(-1).values
    assert scope.trace["moe:expert_weights"].dtype is torch.float32
    assert torch.allclose(scope.trace["moe:expert_weights"][..., 0], torch.sigmoid(best), rtol=1e-6)


def test_gains_and_multipliers_of_what_a_sublayer_adds():
    plain = m.block([m.attention(), m.mlp()], m.layer_norm(), "sandwich")
    part = mw.scaled(plain)
    model = m.decoder(part)
    w = {n.removeprefix("layers.0."): t for n, t in stress_weights(model).items()}
    x = random(B, T, D)
    only = replace(part, sublayers=part.sublayers[:1])
    bare = replace(plain, sublayers=plain.sublayers[:1])
    added = run_block(bare, w, x) - x
    assert gap(run_block(only, w, x), x + 0.7 * w["attention_scale"] * added) < EXACT


def normed(x):
    return x / 2


def test_a_residual_of_what_was_normed_by_hand():
    step = Step(lambda x: x + 1, pre=normed, residual=Residual.NORMED, gain=lambda y: 10 * y)
    assert sequential(tensor([4.0]), [step]).tolist() == [2 + 10 * 3]
    assert sequential(tensor([4.0]), [step, step]).tolist() == [16 + 10 * 17]
    raw = replace(step, residual=Residual.RAW)
    assert sequential(tensor([4.0]), [raw]).tolist() == [4 + 10 * 3]
    assert parallel(tensor([4.0]), [step, step]).tolist() == [2 + 60]
    assert parallel(tensor([4.0]), [raw, raw]).tolist() == [4 + 60]
    other = replace(step, pre=lambda x: x / 4)
    for steps in ([step, raw], [step, other]):
        with pytest.raises(ValueError, match="one residual"):
            parallel(tensor([4.0]), steps)


@pytest.mark.parametrize("at", list(ProjectAt))
def test_the_three_places_of_the_projection(at):
    inputs = mw.wide_input(at)
    stack = m.stack(
        inputs,
        [m.block([m.attention(causal=False)], m.layer_norm())],
        name="encoder",
        n_layers=m.sized(m.N_LAYERS, 0),
    )
    model = m.model(Kind.ENCODER, [stack], [m.FeaturesHead("features")])
    w, tokens = stress_weights(model), torch.randint(0, 29, (2, T))
    result = run(model, w, Inputs(tokens=tokens))
    norm = (w["embedding_norm.weight"], w["embedding_norm.bias"])
    x, rows = 3 * w["embedding.weight"][tokens], w["position_embedding.weight"][2 : 2 + T]
    project = w["embedding_proj.weight"], w["embedding_proj.bias"]
    match at:
        case ProjectAt.BEFORE_POSITION:
            expected = F.layer_norm(F.linear(x, *project) + rows, (D,), *norm)
            order = ["embedding", "embedding_proj", "position_embedding", "embedding_norm"]
        case ProjectAt.BEFORE_NORM:
            expected = F.layer_norm(F.linear(x + rows, *project), (D,), *norm)
            order = ["embedding", "position_embedding", "embedding_proj", "embedding_norm"]
        case ProjectAt.AFTER_NORM:
            expected = F.linear(F.layer_norm(x + rows, (5,), *norm), *project)
            order = ["embedding", "position_embedding", "embedding_norm", "embedding_proj"]
    assert gap(result.outputs["features"], expected) < EXACT
    assert list(result.trace) == order


def test_ids_need_a_padding_id_and_a_row_for_it():
    for part in (m.learned(2, PositionIndex.IDS), m.learned(0, PositionIndex.IDS)):
        part = replace(part, pad_id=1 if part.offset == 0 else None)
        model = m.decoder(m.block([m.attention()], m.layer_norm()), m.token_input(position=part))
        with pytest.raises(ValueError, match="position_embedding counts ids"):
            run(model, stress_weights(model), Inputs(tokens=torch.zeros(1, 3).long()))


def test_the_head_scales_projects_scales_caps_and_cuts():
    model = mw.wide_decoder()
    w, tokens = stress_weights(model), torch.randint(0, 29, (2, T))
    result = run(model, w, Inputs(tokens=tokens))
    hidden = linear(w, "head_proj", 0.5 * result.trace["norm"])
    scaled = 3 * F.linear(hidden, w["embedding.weight"], w["head_bias"])
    assert gap(result.outputs["logits"], 4 * torch.tanh(scaled / 4)[..., :26]) < EXACT


def test_segments_follow_each_other():
    model = resize(mw.wide_decoder(), {"n_near_layers": 2, "n_latent_layers": 3})
    trace = run(model, stress_weights(model), Inputs(tokens=torch.zeros(1, 4).long())).trace
    has_latent = [f"layers.{i}.attention.kv_norm" in trace for i in range(5)]
    has_gate = [f"layers.{i}.attention.gate_proj" in trace for i in range(5)]
    assert has_latent == [False, False, True, False, True]
    assert has_gate == [True, True, False, False, False]


def test_a_layers_number_divides_its_scores():
    part = replace(m.attention(), scale_by_layer=True)
    model = m.decoder(m.block([part, m.mlp()], m.layer_norm()))
    trace = run(model, stress_weights(model), Inputs(tokens=torch.randint(0, 29, (1, T)))).trace
    for i in range(2):
        q, k, weights = (trace[f"layers.{i}.attention:{n}"][0, 0] for n in ("q", "k", "weights"))
        scores = (q @ k.T / E**0.5 / (i + 1)).masked_fill(~torch.ones(T, T).tril().bool(), -9e9)
        assert gap(weights, torch.softmax(scores, -1)) < EXACT


def test_the_trace_of_latent_attention():
    part = ma.latent()
    model = m.decoder(m.block([part, m.mlp()], m.layer_norm()))
    trace = run(model, stress_weights(model), Inputs(tokens=torch.randint(0, 29, (B, T)))).trace
    inside = [n.removeprefix("layers.0.attention") for n in trace if n.startswith("layers.0.att")]
    names = (
        ".q_down_proj .q_norm .q_up_proj .kv_down_proj .kv_norm .kv_up_proj :q :k :weights :heads"
    )
    assert inside == ["_norm", *names.split(), ".o_proj", ""]
    widths = {"q": 10, "k": 10, "weights": T, "heads": 5}
    for name, width in widths.items():
        assert tuple(trace[f"layers.0.attention:{name}"].shape) == (B, H, T, width)
    keys = trace["layers.0.attention:k"]
    assert torch.equal(keys[:, 0, :, 6:], keys[:, 3, :, 6:])  # one turned part for all heads
    assert not torch.equal(keys[:, 0, :, :6], keys[:, 3, :, :6])


def test_latent_attention_looks_no_further_than_its_reach():
    real = torch.tensor([[True] * T, [False, True, True, True, True]])
    for size, reach in ((None, torch.ones(T, T)), (2, torch.ones(T, T).triu(-1))):
        model = m.decoder(m.block([ma.latent(window_size=size), m.mlp()], m.layer_norm()))
        inputs = Inputs(tokens=torch.randint(0, 29, (2, T)), token_mask=real)
        trace = run(model, stress_weights(model), inputs).trace
        near = torch.ones(T, T).tril() * reach
        assert torch.equal(trace["layers.0.attention:weights"][0, 0] > 0, near.bool())
        near[1:, 0] = 0  # the second row's padding is seen by itself alone
        assert torch.equal(trace["layers.0.attention:weights"][1, 3] > 0, near.bool())


@pytest.mark.parametrize(
    ("site", "silenced"),
    [
        (DropoutSite.ATTENTION, ("v_proj", "layers.1.attention.kv_up_proj")),
        (DropoutSite.ATTENTION_OUT, ("o_proj",)),
        (DropoutSite.FF_OUT, ("layers.1.feed_forward",)),
    ],
)
def test_a_dropped_site_is_as_if_its_weights_were_zero(site, silenced):
    model = mw.wide_decoder(dropout=0.1)
    weights = stress_weights(model)
    inputs = Inputs(tokens=torch.randint(0, 29, (2, T)))
    silent = {
        path: w * 0 if any(name in path for name in silenced) else w for path, w in weights.items()
    }
    found = run(model, weights, inputs, site).outputs["logits"]
    assert gap(found, run(model, silent, inputs).outputs["logits"]) < EXACT
    assert gap(found, run(model, weights, inputs).outputs["logits"]) > 1e-3


@pytest.mark.parametrize("init", [FanInUniform(), XavierUniform()])
def test_experts_start_like_matrices_of_their_own(init):
    experts = replace(mx.experts(bias=True), init=init, bias_init=FanInUniform())
    model = m.decoder(m.block([m.attention(), mx.mixture(None, experts)], m.layer_norm()))
    found = initial_moments(model)
    assert found.keys() == {p.path for p in parameters(model)}
    at = "layers.0.feed_forward."
    bound = 12**-0.5 if init == FanInUniform() else (6 / (12 + 10)) ** 0.5
    assert is_close(found[f"{at}gate_proj"].bound, bound)
    assert is_close(found[f"{at}gate_proj_bias"].bound, 12**-0.5)
    assert is_close(found[f"{at}down_proj_bias"].bound, 10**-0.5)


def test_a_capacity_is_the_decoders_alone():
    turned = m.rotary(scaling=ma.longrope((1.0,) * 3, (3.0,) * 3, 8))
    inputs = m.token_input()
    memory = m.attention(source=AttentionSource.MEMORY, causal=False)
    both = (m.attention(causal=False, position=turned),), (m.attention(position=turned), memory)
    names = ("encoder", "encoder_layers"), ("decoder", "decoder_layers")
    stacks = [
        m.stack(inputs, [m.block(bodies, m.layer_norm())], name=name, layers_name=layers)
        for bodies, (name, layers) in zip(both, names, strict=True)
    ]
    model = m.model(Kind.ENCODER_DECODER, stacks, [m.tied_head(inputs)])
    weights, tokens = stress_weights(model), torch.randint(0, 29, (2, T))

    def trace(capacity):
        given = Inputs(source=tokens, target=tokens, capacity=capacity)
        return run(model, weights, given).trace

    small, large = trace(8), trace(9)
    assert torch.equal(small["encoder_layers.1"], large["encoder_layers.1"])
    assert gap(small["decoder_layers.0.attention:q"], large["decoder_layers.0.attention:q"]) > 1e-2
    with pytest.raises(ValueError, match="5 tokens, but the cache has room for 4"):
        trace(4)
