"""Bytes of weights and caches equal those of the live module, to the unit."""

from __future__ import annotations

import pytest
import torch

from specc.ir.calls import usual_length, whole
from specc.ir.memory import DTYPES, cache_bytes, weight_bytes
from specc.ir.model import Kind
from tests.costs.live import SPECS, loaded, run, small, tensors, whole_size

CACHED = [spec for spec in SPECS if loaded(spec).model_ir.cache]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_weights_in_each_dtype(spec):
    live = whole_size(spec)
    for name, itemsize in DTYPES.items():
        state = live.to(vars(torch)[name]).state_dict()
        found = sum(tensor.nbytes for tensor in state.values())
        assert found == weight_bytes(loaded(spec).model_ir, itemsize)


@pytest.mark.parametrize("spec", CACHED, ids=lambda spec: spec.stem)
def test_an_empty_cache_at_the_true_size(spec):
    """What a memory leaves comes with the first step."""
    model, live = loaded(spec).model_ir, whole_size(spec)
    length = usual_length(model)
    room = live.to(torch.bfloat16).new_cache(3, length)
    call = whole(3, length)
    if model.kind is Kind.ENCODER_DECODER:
        run(live, model, call, room)
    assert sum(tensor.nbytes for tensor in tensors(room)) == cache_bytes(model, call, 2)


@pytest.mark.parametrize("length", [1, 3, 20])
@pytest.mark.parametrize("spec", CACHED, ids=lambda spec: spec.stem)
def test_a_full_cache(spec, length):
    model, live = small(spec)
    room = live.new_cache(2, length)
    call = whole(2, length)
    run(live, model, call, room)
    assert sum(tensor.nbytes for tensor in tensors(room)) == cache_bytes(model, call, 4)
