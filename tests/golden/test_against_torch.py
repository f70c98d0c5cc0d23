"""The golden library against torch's own modules, in float64."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from specc.golden import Inputs, norm, run
from specc.golden.functions import activation, masked_softmax
from specc.golden.products import head_scores, kv_head
from specc.ir.attention import AttentionSource
from specc.ir.block import EmbeddingScale
from specc.ir.layers import Activation, NormWeight
from specc.ir.model import Kind
from specc.ir.sizes import width
from tests.golden import models as m
from tests.golden.compare import gap, run_attention, run_block, shake

D, H = m.D_MODEL.value, m.N_HEADS.value
HEAD_DIM = m.sized(m.HEAD_DIM, D // H)
EXACT = 1e-13


@pytest.fixture(autouse=True)
def _float64():
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(before)


def heads(**more):
    """Multi-head attention as torch has it: width D // H, fused for itself."""
    return m.attention(n_kv_heads=m.N_HEADS, head_dim=HEAD_DIM, **more)


def padding(*lengths, width=7):
    return torch.arange(width)[None] < torch.tensor(lengths)[:, None]


def attention_weights(params, prefix, name, fused=True):
    """torch's in_proj as our qkv_proj (or as three), its out_proj as our o_proj."""
    found = {}
    for kind in ("weight", "bias"):
        joint = params[f"{prefix}in_proj_{kind}"]
        if fused:
            found[f"{name}qkv_proj.{kind}"] = joint
        else:
            for part, rows in zip("qkv", joint.chunk(3), strict=True):
                found[f"{name}{part}_proj.{kind}"] = rows
        found[f"{name}o_proj.{kind}"] = params[f"{prefix}out_proj.{kind}"]
    return found


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("fused", [True, False])
def test_self_attention_with_padding(causal, fused):
    module = nn.MultiheadAttention(D, H, batch_first=True)
    weights = attention_weights(shake(module), "", "", fused)
    x, real = torch.randn(3, 7, D), padding(7, 4, 1)
    found, trace = run_attention(heads(causal=causal, fused=fused), weights, x, real)
    mask = torch.ones(7, 7, dtype=torch.bool).triu(1) if causal else None
    expected, seen = module(
        x, x, x, key_padding_mask=~real, attn_mask=mask, average_attn_weights=False
    )
    assert gap(found[real], expected[real]) < EXACT
    rows = real[:, None, :, None].expand_as(seen)
    assert gap(trace["attention:weights"][rows], seen[rows]) < EXACT


def test_cross_attention_with_a_padded_memory():
    module = nn.MultiheadAttention(D, H, batch_first=True)
    weights = attention_weights(shake(module), "", "", fused=False)
    part = heads(source=AttentionSource.MEMORY, causal=False)
    x, memory, real = torch.randn(3, 5, D), torch.randn(3, 7, D), padding(7, 4, 1)
    found, _ = run_attention(part, weights, x, None, memory, real)
    assert gap(found, module(x, memory, memory, key_padding_mask=~real)[0]) < EXACT


def encoder_layer_weights(params):
    found = attention_weights(params, "self_attn.", "attention.")
    for kind in ("weight", "bias"):
        found[f"feed_forward.up_proj.{kind}"] = params[f"linear1.{kind}"]
        found[f"feed_forward.down_proj.{kind}"] = params[f"linear2.{kind}"]
        found[f"attention_norm.{kind}"] = params[f"norm1.{kind}"]
        found[f"feed_forward_norm.{kind}"] = params[f"norm2.{kind}"]
    return found


@pytest.mark.parametrize("norm_first", [True, False])
@pytest.mark.parametrize(
    ("name", "kind"), [("relu", Activation.RELU), ("gelu", Activation.GELU_ERF)]
)
def test_encoder_layer(norm_first, name, kind):
    module = nn.TransformerEncoderLayer(
        D, H, m.D_FF.value, 0.0, name, batch_first=True, norm_first=norm_first
    )
    bodies = [heads(causal=False, fused=True), m.mlp(kind)]
    part = m.block(bodies, m.layer_norm(), "pre" if norm_first else "post")
    weights = encoder_layer_weights(shake(module))
    x, real = torch.randn(3, 7, D), padding(7, 4, 2)
    expected = module(x, src_key_padding_mask=~real)
    assert gap(run_block(part, weights, x, real)[real], expected[real]) < EXACT
    other = m.block(bodies, m.layer_norm(), "post" if norm_first else "pre")
    assert gap(run_block(other, weights, x, real)[real], expected[real]) > 1e-2


def decoder_layer_weights(params):
    found = attention_weights(params, "self_attn.", "attention.", fused=False)
    found |= attention_weights(params, "multihead_attn.", "cross_attention.", fused=False)
    names = {
        "linear1": "feed_forward.up_proj",
        "linear2": "feed_forward.down_proj",
        "norm1": "attention_norm",
        "norm2": "cross_attention_norm",
        "norm3": "feed_forward_norm",
    }
    for theirs, ours in names.items():
        for kind in ("weight", "bias"):
            found[f"{ours}.{kind}"] = params[f"{theirs}.{kind}"]
    return found


def below(params, prefix):
    return {k[len(prefix) :]: v for k, v in params.items() if k.startswith(prefix)}


def transformer_model(slots):
    """The encoder-decoder that torch.nn.Transformer wires, final norms included."""
    inputs = m.token_input(scale=EmbeddingScale.SQRT_WIDTH, position=m.sinusoidal())
    final, feed_forward = m.layer_norm(), m.mlp(Activation.RELU)
    cross = heads(source=AttentionSource.MEMORY, causal=False)
    encoder = m.stack(
        inputs,
        [m.block([heads(causal=False, fused=True), feed_forward], m.layer_norm(), slots)],
        name="encoder",
        layers_name="encoder_layers",
        final_norm=m.named(final, "encoder_norm"),
    )
    decoder = m.stack(
        inputs,
        [m.block([heads(causal=True), cross, feed_forward], m.layer_norm(), slots)],
        name="decoder",
        layers_name="decoder_layers",
        final_norm=m.named(final, "decoder_norm"),
    )
    return m.model(Kind.ENCODER_DECODER, [encoder, decoder], [m.tied_head(inputs)])


def transformer_weights(params, table):
    found = {"embedding.weight": table}
    for stack in ("encoder", "decoder"):
        rename = encoder_layer_weights if stack == "encoder" else decoder_layer_weights
        for i in range(2):
            layer = rename(below(params, f"{stack}.layers.{i}."))
            found |= {f"{stack}_layers.{i}.{name}": w for name, w in layer.items()}
        for kind in ("weight", "bias"):
            found[f"{stack}_norm.{kind}"] = params[f"{stack}.norm.{kind}"]
    return found


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.parametrize("norm_first", [True, False])
def test_encoder_decoder(norm_first):
    module = nn.Transformer(D, H, 2, 2, m.D_FF.value, 0.0, batch_first=True, norm_first=norm_first)
    params, table = shake(module), torch.randn(m.VOCAB.value, D)
    model = transformer_model("pre" if norm_first else "post")
    source, target = torch.randint(0, 29, (3, 7)), torch.randint(0, 29, (3, 5))
    source_mask, target_mask = padding(7, 4, 1), padding(5, 2, 4, width=5)
    inputs = Inputs(source=source, target=target, source_mask=source_mask, target_mask=target_mask)
    found = run(model, transformer_weights(params, table), inputs).outputs["logits"]

    def embedded(ids):
        angle = torch.arange(ids.shape[1])[:, None] / 10000 ** (torch.arange(0, D, 2) / D)
        return table[ids] * math.sqrt(D) + torch.stack([angle.sin(), angle.cos()], -1).flatten(1)

    expected = module(
        embedded(source),
        embedded(target),
        tgt_mask=torch.ones(5, 5, dtype=torch.bool).triu(1),
        src_key_padding_mask=~source_mask,
        tgt_key_padding_mask=~target_mask,
        memory_key_padding_mask=~source_mask,
    )
    assert gap(found[target_mask], (expected @ table.T)[target_mask]) < EXACT


@pytest.mark.parametrize("eps", [1e-12, 1e-5])
@pytest.mark.parametrize("weight", list(NormWeight))
@pytest.mark.parametrize("bias", [True, False])
def test_layer_norm(eps, weight, bias):
    part = replace(m.layer_norm(features=width(9), eps=eps), weight=weight, bias=bias)
    x, w, b = 1e-5 * torch.randn(4, 9), torch.randn(9), torch.randn(9)
    given_w = None if weight is NormWeight.NONE else w
    given_b = b if bias else None
    gain = {NormWeight.PLAIN: w, NormWeight.ONE_PLUS: 1 + w, NormWeight.NONE: None}[weight]
    expected = F.layer_norm(x, (9,), gain, given_b, eps)
    assert gap(norm(part, x, given_w, given_b), expected) < EXACT


def test_rms_norm():
    x, w = torch.randn(4, 9), torch.randn(9)
    assert gap(norm(m.rms_norm(features=width(9)), x, w), F.rms_norm(x, (9,), w, 1e-6)) < EXACT


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_layer_norm_in_low_precision_rounds_once(dtype):
    x, w, b = (torch.randn(4, 9).to(dtype) for _ in range(3))
    found = norm(m.layer_norm(features=width(9)), x, w[0], b[0])
    assert found.dtype is dtype
    expected = F.layer_norm(x.float(), (9,), w[0].float(), b[0].float(), 1e-5).to(dtype)
    assert (found == expected).float().mean() > 0.97  # float32 sums differ in their last digit


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Activation.RELU, F.relu),
        (Activation.RELU_SQUARED, lambda x: F.relu(x).square()),
        (Activation.GELU_ERF, F.gelu),
        (Activation.GELU_TANH, lambda x: F.gelu(x, approximate="tanh")),
        (Activation.SILU, F.silu),
        (Activation.TANH, torch.tanh),
    ],
)
def test_activations_and_their_gradients(kind, expected):
    x = (3 * torch.randn(200)).requires_grad_()
    assert gap(activation(kind, x), expected(x)) < EXACT
    found = torch.autograd.grad(activation(kind, x).sum(), x)[0]
    assert gap(found, torch.autograd.grad(expected(x).sum(), x)[0]) < 1e-12


def test_grouped_heads_and_empty_rows_as_scaled_dot_product_attention():
    q = torch.randn(2, 4, 5, 6, requires_grad=True)
    k, v = torch.randn(2, 2, 7, 6), torch.randn(2, 2, 7, 6)
    allowed = torch.rand(2, 5, 7) > 0.5
    allowed[0, 1], allowed[1] = False, False
    pairs = [(h, kv_head(h, 4, 2)) for h in range(4)]
    scores = [head_scores(q[:, h], k[:, g], 6**-0.5) for h, g in pairs]
    found = torch.stack(
        [masked_softmax(s, allowed) @ v[:, g] for s, (_, g) in zip(scores, pairs, strict=True)], 1
    )
    expected = F.scaled_dot_product_attention(q, k, v, attn_mask=allowed[:, None], enable_gqa=True)
    assert found[1].eq(0).all()
    assert gap(found, expected) < EXACT
    (gradient,) = torch.autograd.grad(found.square().sum(), q)
    assert gap(gradient, torch.autograd.grad(expected.square().sum(), q)[0]) < 1e-12
