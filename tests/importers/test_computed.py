"""Every variant computes what the library computes: its config imported, its random tensors
converted, the same tokens through both.
"""

from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest
import torch
import transformers
from transformers.core_model_loading import revert_weight_conversion

from specc.convert import to_ours
from specc.importers import import_config
from specc.importers.layouts import LAYOUTS
from specc.pipeline import Compilation, compile_fully
from tests.importers.test_library import IDS, built
from tests.importers.variants import VARIANTS

LENGTH = 40  # beyond every window and chunk of the variants


def theirs(model_type: str, values: dict) -> torch.nn.Module:
    """The library's model in float64 with tensors that hide nothing."""
    config = built({"model_type": model_type, "pad_token_id": 0, **values})
    config._experts_implementation = "eager"
    named = values.get("architectures")
    maker = getattr(transformers, named[0]) if named else transformers.AutoModelForCausalLM
    make = maker._from_config if named else maker.from_config
    module = make(config, attn_implementation="eager").eval().double()
    with torch.no_grad():
        for name, tensor in module.state_dict().items():
            if tensor.dtype == torch.float64:
                spread = 0.3 if tensor.dim() < 2 else tensor.shape[-1] ** -0.5
                about = float("norm" in name and name.endswith("weight") and tensor.dim() < 2)
                tensor.copy_(about + spread * torch.randn_like(tensor))
    return module


def ours(compilation: Compilation, published: dict[str, torch.Tensor]) -> torch.nn.Module:
    model = compilation.model
    made = ModuleType("imported")
    sys.modules["imported"] = made
    exec(compilation.artifact.text, vars(made))
    module = getattr(made, model.class_name)(made.Config()).double().eval()
    module.load_state_dict(to_ours(model, LAYOUTS[model.layout], published).tensors)
    return module


@pytest.mark.parametrize(("model_type", "values"), VARIANTS, ids=IDS)
def test_a_variant_computes_the_same(model_type, values):
    torch.manual_seed(5)
    data = json.dumps({"model_type": model_type, **values}).encode()
    compilation = compile_fully(text=import_config(data, "config.json", "imported").text)
    library = theirs(model_type, values)
    published = revert_weight_conversion(library, library.state_dict())
    tokens = torch.randint(1, 96, (2, LENGTH))
    with torch.no_grad():
        found = ours(compilation, published)(tokens)
        wanted = library(tokens).to_tuple()[0]
    found = found if isinstance(found, torch.Tensor) else found[0]
    assert (found - wanted).abs().max() <= 1e-5 * wanted.abs().max()
