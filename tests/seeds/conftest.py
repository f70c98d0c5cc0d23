"""Every comparison is made in float64 and in float32."""

from __future__ import annotations

import pytest
import torch

from tests.seeds.loading import LIMITS


@pytest.fixture(params=LIMITS, ids=str)
def dtype(request):
    """Modules are built in this dtype, so that tables are of it as well."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(request.param)
    torch.manual_seed(0)
    yield request.param
    torch.set_default_dtype(before)
