"""Published numbers for activations, norms, wiring and initialisation."""

from __future__ import annotations

import math

import pytest
import torch

from specc.golden.blocks import Step, parallel, sequential
from specc.golden.functions import activation, sigmoid, silu
from specc.golden.initial import moments
from specc.golden.norms import norm, standardised
from specc.ir.init import FanInUniform, Normal, StandardNormal
from specc.ir.layers import Activation, Cast, NormWeight
from specc.ir.sizes import Constant, Size, width
from tests.golden.models import layer_norm, rms_norm
from tests.golden.vectors import is_close, tensor, vector


@pytest.mark.parametrize("kind", [Activation.GELU_ERF, Activation.GELU_TANH, Activation.SILU])
def test_v26_activations(kind):
    v = vector("V26")
    found = activation(kind, tensor(v.given["x"]))
    assert is_close(found, v.expected[kind.value])
    names = ("gelu_erf", "gelu_tanh", "silu")
    others = [v.expected[name] for name in names if name != kind.value]
    assert not any(is_close(found, other, 1e-4) for other in [*others, *v.wrong.values()])


def test_v26_the_two_forms_of_gelu_are_this_far_apart():
    x = torch.linspace(-6, 6, 240001, dtype=torch.float64)
    gap = activation(Activation.GELU_ERF, x) - activation(Activation.GELU_TANH, x)
    assert is_close(gap.abs().max(), vector("V26").expected["gap"], 1e-9)


def test_activations_of_large_numbers_stay_finite():
    x = torch.tensor([-1e4, 1e4], dtype=torch.float64)
    for kind in Activation:
        assert activation(kind, x).isfinite().all()
    assert activation(Activation.RELU_SQUARED, torch.tensor([-3.0, 3.0])).tolist() == [0.0, 9.0]


@pytest.mark.parametrize("eps", [1e-12, 1e-6, 1e-5])
def test_v27_eps_is_inside_the_root_and_the_variance_biased(eps):
    v = vector("V27")
    part = layer_norm(features=width(4), eps=eps, weight=NormWeight.NONE, bias=False)
    found = norm(part, tensor(v.given["x"]))
    expected = {float(name): row for name, row in v.expected.items()}
    assert is_close(found, expected[eps])
    assert not any(is_close(found, row, 1e-3) for e, row in expected.items() if e != eps)
    assert not is_close(found, v.wrong["unbiased_1e-6"], 1e-3)


V28 = [
    ("before_weight", "weight", NormWeight.PLAIN, Cast.BEFORE_WEIGHT),
    ("one_plus_after_weight", "weight_one_plus", NormWeight.ONE_PLUS, Cast.AFTER_WEIGHT),
]


@pytest.mark.parametrize(("name", "weight_name", "weight", "cast"), V28)
def test_v28_casts_in_bfloat16(name, weight_name, weight, cast):
    v = vector("V28")
    part = rms_norm(features=width(8), eps=v.given["eps"], weight=weight, cast=cast)
    x, w = (tensor(v.given[key], torch.bfloat16) for key in ("x", weight_name))
    found = norm(part, x, w)
    assert found.dtype is torch.bfloat16
    assert found.tolist() == v.expected[name]
    assert all(found.tolist() != wrong for wrong in v.wrong.values())


def test_v28_the_other_order_gives_the_other_number():
    v = vector("V28")
    part = rms_norm(features=width(8), eps=v.given["eps"], cast=Cast.AFTER_WEIGHT)
    x, w = (tensor(v.given[key], torch.bfloat16) for key in ("x", "weight"))
    assert norm(part, x, w).tolist() == v.wrong["after_weight"]


@pytest.mark.parametrize("cast", list(Cast))
@pytest.mark.parametrize("weight", list(NormWeight))
def test_in_float64_no_cast_shows(cast, weight):
    x, w = torch.randn(2, 3, 8, dtype=torch.float64)[:, :, :], torch.randn(8, dtype=torch.float64)
    part = rms_norm(features=width(8), eps=1e-3, weight=weight, cast=cast)
    gain = {NormWeight.PLAIN: w, NormWeight.ONE_PLUS: 1 + w, NormWeight.NONE: 1}[weight]
    expected = gain * x / (x.pow(2).mean(-1, keepdim=True) + 1e-3) ** 0.5
    given = () if weight is NormWeight.NONE else (w,)
    assert torch.allclose(norm(part, x, *given), expected, rtol=1e-13, atol=0)


def v30(pre=False, post=False, out=False):
    def normed(x):
        return standardised(x, 1e-5)

    slots = {name: normed for name, on in (("pre", pre), ("post", post), ("out", out)) if on}
    shift = tensor([1.0, 0.0, -1.0, 2.0])
    return [
        Step(lambda x: 0.5 * x + shift, **slots),
        Step(lambda x: 0.25 * x * x.abs(), **slots),
    ]


def test_v30_places_of_the_norm():
    v = vector("V30")
    x = tensor(v.given["x"])
    found = {
        "post": sequential(x, v30(out=True)),
        "pre": sequential(x, v30(pre=True)),
        "pre_final": standardised(sequential(x, v30(pre=True)), 1e-5),
        "parallel": parallel(x, v30(pre=True)),
        "sandwich": sequential(x, v30(pre=True, post=True)),
    }
    assert found.keys() == v.expected.keys()
    for name, row in found.items():
        assert is_close(row, v.expected[name])
        others = [other for key, other in v.expected.items() if key != name]
        assert not any(is_close(row, other, 1e-2) for other in others)


def test_v37_spreads():
    v = vector("V37")
    std = Constant("init_std", v.expected["base"])
    assert moments(Normal(std), (768, 768)).std == v.expected["base"]
    for n_layers in (12, 48):
        found = moments(Normal(std, Size("n_layers", n_layers, "L")), (768, 768)).std
        assert is_close(found, v.expected[f"output_{n_layers}"])
        assert not is_close(found, v.wrong["output_12_without_the_two"], 1e-4)
        assert not is_close(found, v.expected["base"], 1e-4)
    assert is_close(moments(FanInUniform(), (3072, 768)).std, v.expected["linear_768"])
    assert moments(StandardNormal(), (50, 768)).std == v.expected["embedding"]


def test_v40_the_activated_half_comes_first():
    v = vector("V40")
    first, second = tensor(v.given["fused"]).reshape(2, 3)
    assert is_close(silu(first) * second, v.expected["gate_first"])
    assert is_close(silu(second) * first, v.wrong["up_first"])
    assert not is_close(silu(first) * second, v.wrong["up_first"], 1e-2)


@pytest.mark.parametrize("x", [-700.0, -45.0, -21.7, -1.0, 0.0, 1.0, 21.7, 45.0, 700.0])
def test_sigmoid_keeps_all_digits_of_small_numbers_and_has_its_slope_everywhere(x):
    """A norm of a vector that gates left tiny brings lost digits back to full size."""
    at = torch.tensor(x, dtype=torch.float64, requires_grad=True)
    found = sigmoid(at)
    (slope,) = torch.autograd.grad(found, at)
    e = math.exp(-abs(x))
    wanted = (e if x < 0 else 1.0) / (1.0 + e)
    assert found.item() == pytest.approx(wanted, rel=1e-15)
    assert slope.item() == pytest.approx(e / (1.0 + e) ** 2, rel=1e-13)
