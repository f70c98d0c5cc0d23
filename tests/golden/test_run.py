"""Whole runs: names, order, errors, dropped sites, masks and gradients, for every kind."""

from __future__ import annotations

from dataclasses import fields

import pytest
import torch

from specc.golden import Inputs, run
from specc.golden.initial import initial_moments, moments
from specc.ir.attention import AttentionSource
from specc.ir.init import FanInUniform
from specc.ir.layers import DropoutSite
from specc.ir.model import Kind
from specc.ir.parameters import parameters
from specc.ir.walk import resize
from tests.golden import models as m
from tests.golden.compare import gap
from tests.golden.models_wide import wide_decoder
from tests.golden.weights import stress_weights

B, T, S = 3, 5, 7


def tokens(length=T):
    return torch.randint(0, m.VOCAB.value, (B, length))


def a_decoder(**more):
    attention = m.attention(
        position=m.rotary(), norm=m.qk_norm(), gives_weights=True, dropout=more.pop("dropout", 0.0)
    )
    return m.decoder(m.block([attention, m.glu()], m.rms_norm()), norm=m.rms_norm(), **more)


def an_encoder():
    inputs = m.token_input(types=True, position=m.learned(), norm=m.layer_norm("embedding_norm"))
    bodies = [m.attention(causal=False), m.mlp()]
    stack = m.stack(inputs, [m.block(bodies, m.layer_norm(), "post")], name="encoder")
    heads = [m.masked_head(inputs, m.layer_norm()), m.classifier(pooler=True)]
    return m.model(Kind.ENCODER, [stack], heads)


def an_encoder_decoder():
    inputs = m.token_input(position=m.sinusoidal())
    memory = m.attention(source=AttentionSource.MEMORY, causal=False)
    encoder = m.stack(
        inputs,
        [m.block([m.attention(causal=False), m.mlp()], m.layer_norm(), "post")],
        name="encoder",
        layers_name="encoder_layers",
    )
    decoder = m.stack(
        inputs,
        [m.block([m.attention(), memory, m.mlp()], m.layer_norm(), "post")],
        layers_name="decoder_layers",
    )
    return m.model(Kind.ENCODER_DECODER, [encoder, decoder], [m.tied_head(inputs)])


def a_set_model():
    memory = m.attention(source=AttentionSource.MEMORY, causal=False, norm=m.qk_l2_norm())
    return m.features_model(m.block([memory, m.mlp()], m.layer_norm(), "sandwich"))


def inputs_for(kind):
    real = torch.arange(S)[None] >= torch.tensor([0, 2, 6])[:, None]
    width = m.D_MODEL.value
    match kind:
        case Kind.DECODER | Kind.ENCODER:
            return Inputs(tokens=tokens(S), token_mask=real)
        case Kind.ENCODER_DECODER:
            return Inputs(source=tokens(S), source_mask=real, target=tokens())
        case Kind.FEATURES:
            queries, memory = torch.randn(B, T, width), torch.randn(B, S, width)
            return Inputs(queries=queries, memory=memory, memory_mask=real)


MODELS = {
    "decoder": a_decoder,
    "encoder": an_encoder,
    "encoder_decoder": an_encoder_decoder,
    "features": a_set_model,
    "wide": wide_decoder,
}


@pytest.fixture(params=list(MODELS))
def model(request):
    return MODELS[request.param]()


def first_output(model, weights, inputs):
    return run(model, weights, inputs).outputs[model.heads[0].output_name]


def test_every_weight_gets_the_gradient_that_differences_give(model):
    weights, inputs = stress_weights(model), inputs_for(model.kind)
    trained = {p.path: weights[p.path].requires_grad_() for p in parameters(model) if p.trained}

    def loss(values):
        outputs = run(model, values, inputs).outputs
        return sum(outputs[head.output_name].square().sum() for head in model.heads)

    gradients = torch.autograd.grad(loss(weights), list(trained.values()))
    assert all(gradient.isfinite().all() for gradient in gradients)
    for (path, w), gradient in zip(trained.items(), gradients, strict=True):
        if path.endswith("k_proj.bias") and gradient.abs().max() < 1e-10:
            continue  # a shift of all keys moves all scores of a row alike
        step = torch.randn_like(w)
        ends = [loss(weights | {path: w.detach() + e * step}).detach() for e in (1e-5, -1e-5)]
        assert float((ends[0] - ends[1]) / 2e-5) == pytest.approx(
            float((gradient * step).sum()), rel=1e-5, abs=1e-5
        ), path
        assert gradient.abs().max() > 0, path


def test_runs_in_the_dtype_of_the_weights(model):
    inputs = inputs_for(model.kind)
    exact = first_output(model, stress_weights(model), inputs)
    for dtype, tolerance in ((torch.float64, 0.0), (torch.float32, 1e-5), (torch.bfloat16, 0.5)):
        found = first_output(model, stress_weights(model, dtype=dtype), inputs)
        assert found.dtype is dtype
        assert gap(found.double(), exact) <= tolerance


def test_samples_do_not_see_each_other(model):
    weights, inputs = stress_weights(model), inputs_for(model.kind)
    given = {f.name: getattr(inputs, f.name) for f in fields(inputs)}
    alone = {k: v[1:2] for k, v in given.items() if isinstance(v, torch.Tensor)}
    found = first_output(model, weights, inputs)[1:2]
    assert gap(found, first_output(model, weights, Inputs(**alone))) < 1e-13


@pytest.mark.parametrize("name", ["decoder", "wide"])
def test_a_longer_run_repeats_a_shorter_one(name):
    model = MODELS[name]()
    weights, given = stress_weights(model), tokens(S)
    longer = first_output(model, weights, Inputs(tokens=given))
    shorter = first_output(model, weights, Inputs(tokens=given[:, :T]))
    assert gap(longer[:, :T], shorter) < 1e-13


@pytest.mark.parametrize("name", ["decoder", "encoder", "wide"])
def test_padding_changes_no_real_token(name):
    model = MODELS[name]()
    weights, given = stress_weights(model), tokens()
    plain = first_output(model, weights, Inputs(tokens=given))
    for before, after in ((0, 2), (2, 0), (1, 2)):
        noise = [torch.randint(0, 29, (B, n)) for n in (before, after)]
        padded = torch.cat([noise[0], given, noise[1]], 1)
        real = torch.zeros(padded.shape, dtype=torch.bool)
        real[:, before : before + T] = True
        found = first_output(model, weights, Inputs(tokens=padded, token_mask=real))
        assert gap(found[:, before : before + T], plain) < 1e-12


def test_a_padded_source_changes_nothing():
    model = an_encoder_decoder()
    weights, source, target = stress_weights(model), tokens(), tokens()
    plain = first_output(model, weights, Inputs(source=source, target=target))
    longer = torch.cat([source, tokens(2)], 1)
    real = (torch.arange(T + 2) < T).expand(B, -1)
    padded = Inputs(source=longer, target=target, source_mask=real)
    assert gap(first_output(model, weights, padded), plain) < 1e-12


def test_the_trace_is_in_order_of_computation():
    model = a_decoder()
    trace = run(model, stress_weights(model), Inputs(tokens=tokens())).trace
    layer = [
        "attention_norm",
        "attention.q_proj",
        "attention.k_proj",
        "attention.v_proj",
        "attention:q",
        "attention:k",
        "attention:weights",
        "attention:heads",
        "attention.o_proj",
        "attention",
        "feed_forward_norm",
        "feed_forward.gate_proj",
        "feed_forward.up_proj",
        "feed_forward.down_proj",
        "feed_forward",
    ]
    layers = [[*(f"layers.{i}.{name}" for name in layer), f"layers.{i}"] for i in range(2)]
    assert list(trace) == ["embedding", *layers[0], *layers[1], "norm"]
    h, k, e = m.N_HEADS.value, m.N_KV_HEADS.value, m.HEAD_DIM.value
    shapes = {"q": (B, h, T, e), "k": (B, k, T, e), "weights": (B, h, T, T), "heads": (B, h, T, e)}
    for name, shape in shapes.items():
        assert tuple(trace[f"layers.0.attention:{name}"].shape) == shape


def test_a_shared_module_is_traced_twice():
    model = an_encoder_decoder()
    trace = run(model, stress_weights(model), inputs_for(model.kind)).trace
    assert trace["embedding"].shape[1] == S
    assert trace["embedding#2"].shape[1] == T
    assert list(trace).index("embedding#2") > list(trace).index("encoder_layers.1")


def test_attention_weights_come_in_the_order_asked_for():
    model = a_decoder(weights=True)
    weights, given = stress_weights(model), tokens()
    result = run(model, weights, Inputs(tokens=given, attention_layers=(1, 0)))
    found = result.outputs["attention_weights"]
    for i, layer in enumerate((1, 0)):
        assert found[i] is result.trace[f"layers.{layer}.attention:weights"]
        assert torch.allclose(found[i].sum(-1), torch.ones(B, 4, T, dtype=torch.float64))
    assert run(model, weights, Inputs(tokens=given)).outputs["attention_weights"] == ()
    with pytest.raises(ValueError, match="no layer 2 among 2"):
        run(model, weights, Inputs(tokens=given, attention_layers=(2,)))


def dropping_model():
    inputs = m.token_input(dropout=0.1)
    bodies = [m.attention(dropout=0.1), m.mlp(dropout=0.1)]
    stack = m.stack(inputs, [m.block(bodies, m.layer_norm())])
    return m.model(Kind.DECODER, [stack], [m.untied_head()])


@pytest.mark.parametrize(
    ("site", "silenced"),
    [
        (DropoutSite.EMBEDDING, ("embedding",)),
        (DropoutSite.ATTENTION, ("v_proj.weight", "v_proj.bias")),
        (DropoutSite.ATTENTION_OUT, ("o_proj",)),
        (DropoutSite.FF_HIDDEN, ("down_proj.weight",)),
        (DropoutSite.FF_OUT, ("down_proj",)),
    ],
)
def test_a_dropped_site_is_as_if_its_weights_were_zero(site, silenced):
    model = dropping_model()
    weights, inputs = stress_weights(model), Inputs(tokens=tokens())
    silent = {
        path: w * 0 if any(name in path for name in silenced) else w for path, w in weights.items()
    }
    found = run(model, weights, inputs, site).outputs["logits"]
    assert gap(found, run(model, silent, inputs).outputs["logits"]) < 1e-13
    assert gap(found, run(model, weights, inputs).outputs["logits"]) > 1e-2


def test_a_site_that_drops_nothing_is_refused():
    model = a_decoder()
    with pytest.raises(ValueError, match="drops nothing at ff_out"):
        run(model, stress_weights(model), Inputs(tokens=tokens()), DropoutSite.FF_OUT)


Q = "layers.1.attention.q_proj.weight"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda w: {k: v for k, v in w.items() if k != Q}, f"missing weight {Q}"),
        (lambda w: w | {Q + "s": w[Q]}, f"unknown weight {Q}s \\(nearest: {Q}"),
        (
            lambda w: {k.replace(Q, "layers.1.attention.q.weight"): v for k, v in w.items()},
            f"missing weight {Q} \\(nearest: layers.1.attention.q.weight",
        ),
        (lambda w: w | {Q: w[Q].T}, rf"{Q} has shape \(12, 24\), not \(24, 12\)"),
        (lambda w: w | {Q: w[Q].float()}, "one dtype"),
    ],
)
def test_weights_that_do_not_fit(edit, message):
    model = a_decoder()
    with pytest.raises(ValueError, match=message):
        run(model, edit(stress_weights(model)), Inputs(tokens=tokens()))


def mask(batch=B, length=T):
    return torch.ones(batch, length, dtype=torch.bool)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "the model needs tokens"),
        ({"token_mask": mask()}, "the model needs tokens"),
        ({"tokens": tokens(), "memory": torch.zeros(1)}, "does not read memory"),
        ({"tokens": tokens(), "token_types": tokens()}, "does not read token_types"),
        ({"tokens": tokens(), "token_mask": mask().long()}, "token_mask must be bool"),
        ({"tokens": tokens(), "token_mask": mask(B, T + 1)}, "token_mask is .* but tokens is"),
        ({"tokens": tokens() + 29}, "embedding has 29 rows"),
        ({"tokens": tokens(17)}, "17 tokens, but max_seq_len is 16"),
        ({"tokens": tokens(), "attention_layers": (0,)}, "does not return attention weights"),
    ],
)
def test_inputs_that_do_not_fit(given, message):
    model = a_decoder()
    with pytest.raises(ValueError, match=message):
        run(model, stress_weights(model), Inputs(**given))


def test_table_positions_know_their_length():
    for position in (m.learned(), m.sinusoidal()):
        block = m.block([m.attention(), m.mlp()], m.layer_norm())
        model = m.decoder(block, m.token_input(position=position))
        with pytest.raises(ValueError, match="17 tokens, but max_seq_len is 16"):
            run(model, stress_weights(model), Inputs(tokens=tokens(17)))


def test_layer_types_follow_their_pattern():
    local, wide = m.attention(position=m.rotary(theta=10.0)), m.attention()
    blocks = [m.block([part, m.mlp()], m.layer_norm()) for part in (local, wide)]
    inputs = m.token_input()
    stack = m.stack(inputs, blocks, n_layers=m.sized(m.N_LAYERS, 3))
    model = m.model(Kind.DECODER, [stack], [m.tied_head(inputs)])
    trace = run(model, stress_weights(model), Inputs(tokens=tokens())).trace
    for i, turns in enumerate((True, False, True)):
        q = trace[f"layers.{i}.attention:q"].transpose(1, 2).flatten(-2)
        assert torch.allclose(q, trace[f"layers.{i}.attention.q_proj"]) is not turns


def test_initial_moments_are_those_of_torch():
    part = m.block([m.attention(), m.mlp()], m.layer_norm())
    model = resize(m.decoder(part), {"d_model": 40, "d_ff": 400})
    found = initial_moments(model)
    assert found.keys() == {p.path for p in parameters(model)}
    assert found["layers.0.attention_norm.weight"].mean == 1.0
    linear = torch.nn.Linear(40, 400)
    bound = moments(FanInUniform(), (400, 40)).bound
    assert linear.weight.abs().max() <= bound
    assert linear.bias.abs().max() <= bound
    assert float(linear.weight.detach().std()) == pytest.approx(bound / 3**0.5, rel=0.05)
