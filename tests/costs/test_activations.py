"""The closed form of what a training step keeps equals what a live forward pass hands round."""

from __future__ import annotations

import pytest

from specc.ir.activations import Kept, activations
from specc.ir.calls import Call, whole
from tests.costs.live import SPECS, loaded, run, small, values
from tests.costs.recorder import recording


@pytest.mark.parametrize("call", [Call(2, 7, source=5), whole(3, 12)], ids=["2x7", "3x12"])
@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_every_number_that_is_kept(spec, call):
    model, live = small(spec)
    live.train()
    with recording(live, loaded(spec).module) as recorder:
        recorder.record(*values(run(live, model, call)))
    seen = Kept(recorder.numbers, recorder.queries, recorder.masks)
    assert seen == activations(model, call)
