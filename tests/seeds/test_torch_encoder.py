"""`text_classifier` against torch's own encoder, live: the stack that its code is built on.

torch takes a fused path in eval mode without gradients; it has to say the same.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.golden.compare import gap, shake
from tests.seeds.loading import LIMITS, loaded

SIZES = {"vocab_size": 29, "max_seq_len": 17, "d_model": 12, "n_heads": 4, "head_dim": 3}
# torch's name of each part of a layer, ours
NAMES = {
    "norm1": "attention_norm",
    "norm2": "feed_forward_norm",
    "linear1": "feed_forward.up_proj",
    "linear2": "feed_forward.down_proj",
    "self_attn.out_proj": "attention.o_proj",
}

pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor")  # it says norm_first is on


@pytest.fixture
def fused(monkeypatch):
    """How often torch took its fused path."""
    calls: list[int] = []
    before = torch._transformer_encoder_layer_fwd

    def counted(*arguments: Any) -> Tensor:
        calls.append(1)
        return before(*arguments)

    monkeypatch.setattr(torch, "_transformer_encoder_layer_fwd", counted)
    return calls


def ours() -> nn.Module:
    made = loaded("text_classifier")
    model = made.Model(made.Config(**SIZES, n_layers=3, d_ff=48, n_classes=5)).eval()
    shake(model)
    return model


def theirs(model: Any) -> nn.TransformerEncoder:
    """Pre-norm layers, no final norm, the same weights."""
    width = SIZES["d_model"]
    layer = nn.TransformerEncoderLayer(
        width, SIZES["n_heads"], 4 * width, dropout=0.1, batch_first=True, norm_first=True
    )
    encoder = nn.TransformerEncoder(layer, num_layers=3).eval()
    weights = model.layers.state_dict()
    encoder.layers.load_state_dict({n: _weight(n, weights) for n in encoder.layers.state_dict()})
    return encoder


def _weight(name: str, weights: dict[str, Tensor]) -> Tensor:
    layer, _, rest = name.partition(".")
    if rest.startswith("self_attn.in_proj_"):
        kind = rest.removeprefix("self_attn.in_proj_")
        return torch.cat([weights[f"{layer}.attention.{part}_proj.{kind}"] for part in "qkv"])
    part, _, kind = rest.rpartition(".")
    return weights[f"{layer}.{NAMES[part]}.{kind}"]


@pytest.mark.parametrize("gradients", [False, True], ids=["fused", "plain"])
@pytest.mark.parametrize("padded", [False, True], ids=["full", "padded"])
def test_text_classifier_is_torchs_encoder(padded, gradients, dtype, fused):
    model = ours()
    encoder = theirs(model)
    tokens = torch.randint(0, SIZES["vocab_size"], (3, 9))
    real = torch.arange(9) < torch.tensor([9, 6, 1])[:, None]
    streams: list[Tensor] = []
    model.layers[-1].register_forward_hook(lambda *arguments: streams.append(arguments[-1]))
    with torch.set_grad_enabled(gradients):
        logits = model(tokens, real if padded else None)
        x = model.embedding(tokens) * math.sqrt(SIZES["d_model"]) + model.position.table[:9]
        stream = encoder(x, src_key_padding_mask=~real if padded else None)
        expected = model.classifier(stream[:, 0])
    assert len(fused) == (0 if gradients else 3)
    assert gap(logits, expected) < LIMITS[dtype]
    read = real if padded else torch.ones_like(real)
    assert gap(streams[0][read], stream[read]) < LIMITS[dtype]


def test_a_final_norm_would_be_another_model(dtype):
    model = ours()
    encoder = theirs(model)
    tokens = torch.randint(0, SIZES["vocab_size"], (3, 9))
    with torch.no_grad():
        x = model.embedding(tokens) * math.sqrt(SIZES["d_model"]) + model.position.table[:9]
        normed = nn.functional.layer_norm(encoder(x), (SIZES["d_model"],))
        assert gap(model(tokens), model.classifier(normed[:, 0])) > 1e-2


def test_trained_alike(dtype):
    """The gradients of one step, padded and in training mode with no dropout, are the same."""
    model = ours().train()
    encoder = theirs(model).train()
    for module in (*model.modules(), *encoder.modules()):
        if "dropout" in vars(module):  # a number: of attention
            module.dropout = 0.0
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    tokens = torch.randint(0, SIZES["vocab_size"], (3, 9))
    real = torch.arange(9) < torch.tensor([9, 6, 2])[:, None]
    model(tokens, real).square().mean().backward()
    with torch.no_grad():
        x = model.embedding(tokens) * math.sqrt(SIZES["d_model"]) + model.position.table[:9]
    stream = encoder(x, src_key_padding_mask=~real)
    model.classifier(stream[:, 0]).square().mean().backward()
    found = {n: p.grad for n, p in model.layers.named_parameters()}
    largest = max(float(g.abs().max()) for g in found.values())
    for name, parameter in encoder.layers.named_parameters():
        assert float((_weight(name, found) - parameter.grad).abs().max()) < LIMITS[dtype] * largest
