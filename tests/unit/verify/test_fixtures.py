"""Sizes, weights and inputs under which no mistake can hide."""

import pytest
import torch

from specc import golden
from specc.ir.attention import Attention
from specc.ir.parameters import parameters
from specc.ir.positions import Llama3Scaling, Rotary
from specc.ir.sizes import Constant, Size
from specc.ir.walk import config_fields, resize, walk
from specc.verify.calls import flat
from specc.verify.loading import loaded
from specc.verify.metrics import worst_error
from specc.verify.sizes import reduced_sizes
from specc.verify.subject import Subject
from specc.verify.weights import Regime, stress_weights
from tests.unit.verify.files import SPECS, compiled

# How many there are or are picked: no axis of a weight.
COUNTED = ("top_k", "n_groups", "n_kept_groups", "n_layers")
NAMES = sorted(spec.stem for spec in SPECS.glob("*.yaml"))


@pytest.fixture(params=NAMES)
def model(request):
    return compiled(request.param).model


def subject_of(name):
    compilation = compiled(name)
    with loaded(compilation.artifact.text, name) as file:
        return Subject(compilation.model, file)


def test_sizes_cover_config_and_differ(model):
    sizes = reduced_sizes(model)
    fields = [field.name for field in config_fields(model) if isinstance(field, Size)]
    assert sorted(sizes) == sorted(fields)
    axes = [size for name, size in sizes.items() if not name.startswith(COUNTED)]
    assert len(set(axes)) == len(axes)


def test_sizes_keep_what_the_parts_need(model):
    small = resize(model, reduced_sizes(model))
    for part in walk(small.stacks):
        if isinstance(part, Attention):
            assert part.n_heads.value % part.n_kv_heads.value == 0
            assert part.head_dim.value % 2 == 0
        if isinstance(part, Rotary):
            assert part.rotary_dim.value % 2 == 0
            assert part.is_partial == (part.rotary_dim.value < part.head_dim.value)
    for stack in small.stacks:
        assert {layer.name for layer in stack.layers} == {t.name for t in stack.layer_types}


def test_a_scaled_rotary_has_long_short_and_blended_waves():
    small = resize(compiled("llama_3_2_1b").model, reduced_sizes(compiled("llama_3_2_1b").model))
    rotary = next(part for part in walk(small.stacks) if isinstance(part, Rotary))
    scaling = rotary.scaling
    assert isinstance(scaling, Llama3Scaling)
    original, low, high = (
        scaling.original_max_seq_len.value,
        scaling.low_freq_factor.value,
        scaling.high_freq_factor.value,
    )
    half = rotary.rotary_dim.value // 2
    waves = [2 * torch.pi * rotary.theta.value ** (k / half) for k in range(half)]
    assert any(wave < original / high for wave in waves)
    assert any(original / high < wave < original / low for wave in waves)
    assert any(wave > original / low for wave in waves)


@pytest.mark.parametrize("regime", Regime)
def test_weights_are_complete_seeded_and_random(model, regime):
    small = resize(model, reduced_sizes(model))
    weights, again = stress_weights(small, regime), stress_weights(small, regime)
    assert {n: tuple(w.shape) for n, w in weights.items()} == {
        p.path: p.shape for p in parameters(small)
    }
    for name, weight in weights.items():
        assert weight.dtype == torch.float64
        assert torch.equal(weight, again[name])
        assert weight.flatten()[0] != weight.flatten()[-1]


@pytest.mark.parametrize("name", NAMES)
def test_ten_times_eps_shows_in_float32(name):
    """In some case by more than a float32 tolerance, for every eps of the spec."""
    subject = subject_of(name)
    found = [f for f in config_fields(subject.small) if f.name.endswith("eps")]
    found = [f for f in found if not f.name.startswith("router")]  # 1e-20 beside a sum of about 1
    assert found
    for eps in found:
        assert isinstance(eps, Constant)
        other = resize(subject.small, {eps.name: eps.value * 10})
        errors = []
        for case in subject.cases:
            result = golden.run(other, subject.weights(case.regime), case.inputs)
            wanted = flat(subject.golden(case).outputs)
            errors.append(worst_error(flat(result.outputs), wanted)[0])
        assert max(errors) > 2e-5, eps.name
