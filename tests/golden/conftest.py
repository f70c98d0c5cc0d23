"""Every golden test starts from the same random numbers; foreign models run in two ways."""

from __future__ import annotations

import pytest
import torch

from tests.golden.compare import lift


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.fixture(params=["lifted", "as it is"])
def lifted(request, monkeypatch):
    """Whether a foreign model runs in float64 all through, or in float32 as it is."""
    before = torch.get_default_dtype()
    if request.param == "lifted":
        torch.set_default_dtype(torch.float64)
        lift(monkeypatch)
    yield request.param == "lifted"
    torch.set_default_dtype(before)
