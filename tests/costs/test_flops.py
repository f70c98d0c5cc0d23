"""The closed form of the work equals `torch.utils.flop_counter`, at several lengths, forward and
backward, with and without a cache.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from specc.ir.calls import Call, longest, step, usual_length, whole
from specc.ir.card import card, flops
from specc.ir.model import Kind
from specc.ir.ownership import rows
from tests.costs.live import (
    SPECS,
    counted,
    has_experts,
    loaded,
    run,
    small,
    values,
    whole_size,
)

DENSE = [spec for spec in SPECS if not has_experts(loaded(spec).model_ir)]
CACHED = [spec for spec in SPECS if loaded(spec).model_ir.cache]
CALLS = (Call(1, 1, source=1), Call(2, 7, source=5), Call(3, 16, source=16))


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call.batch}x{call.new}")
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_forward(spec, call):
    model, live = small(spec)
    assert counted(live, model, call).get_total_flops() == flops(model, call)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_module_by_module(spec):
    model, live = small(spec)
    call = Call(2, 9, source=5)
    by_module = counted(live, model, call).get_flop_counts()
    modules = {name for name, _ in live.named_modules()}
    for row in rows(model, call):
        for path in row.paths:
            if path in modules:
                seen = by_module.get(f"{type(live).__name__}.{path}", {})
                assert (path, sum(seen.values())) == (path, row.flops)


@pytest.mark.parametrize("spec", DENSE, ids=lambda spec: spec.stem)
def test_forward_at_the_true_size_and_the_usual_length(spec):
    model, live = loaded(spec).model_ir, whole_size(spec)
    call = whole(1, usual_length(model))
    total = counted(live, model, call).get_total_flops()
    assert total == flops(model, call) == card(model, 1, call.new).forward


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_a_training_step(spec):
    model, live = small(spec)
    call = Call(2, 9, source=9)
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        sum(value.sum() for value in values(run(live, model, call))).backward()
    assert counter.get_total_flops() == card(model, 2, 9).training


@pytest.mark.parametrize("spec", CACHED, ids=lambda spec: spec.stem)
def test_with_a_cache(spec):
    """In uneven chunks, then one token at a time."""
    model, live = small(spec)
    room = live.new_cache(2, 16)
    past = 0
    for new in (5, 4, 1, 1):
        call = Call(2, new, past=past, source=6, encodes=False)
        assert counted(live, model, call, room).get_total_flops() == flops(model, call)
        past += new


@pytest.mark.parametrize("spec", CACHED, ids=lambda spec: spec.stem)
def test_a_decode_step_at_the_true_size(spec):
    """Of one text: a lone token's experts are gathered, which needs no numbers."""
    model, live = loaded(spec).model_ir, whole_size(spec)
    length = min(usual_length(model), 64)
    one = step(1, length)
    with torch.device("meta"):
        room = live.new_cache(1, length)
    if model.kind is Kind.ENCODER_DECODER:
        run(live, model, replace(one, new=length - 1, past=0), room)
    room.length = length - 1
    assert counted(live, model, one, room).get_total_flops() == card(model, 1, length).decode


def test_experts_cost_what_is_chosen_however_it_is_chosen():
    """All tokens to the same experts, or each to its own: the work is the same."""
    spec = next(spec for spec in SPECS if spec.stem == "mixtral_8x7b")
    model, live = small(spec)
    call = Call(2, 9)
    router = live.get_parameter("layers.0.feed_forward.router.weight")
    for weight in (torch.zeros_like(router), torch.randn_like(router)):
        router.data.copy_(weight)
        assert counted(live, model, call).get_total_flops() == flops(model, call)


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_the_longest_length_is_the_longest_that_runs(spec):
    model, live = small(spec)
    most = longest(model)
    run(live, model, whole(1, most or 40))
    if most is not None:
        with pytest.raises(ValueError, match=f"max_seq_len is {most}"):
            run(live, model, whole(1, most + 1))
