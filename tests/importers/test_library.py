"""Against the library itself: configs as it writes them, with every key it has, and models as it
builds them.
"""

import json
from dataclasses import replace

import pytest
import torch
import transformers

from specc.importers import import_config
from specc.importers.configs import BY_MODEL_TYPE
from specc.ir.model import Model
from specc.ir.parameters import parameter_count
from specc.pipeline import read_model
from tests.importers.compare import CONFIGS, NAMES
from tests.importers.variants import VARIANTS

IDS = [f"{model_type}_{i}" for i, (model_type, _) in enumerate(VARIANTS)]


def meant(data: bytes | str) -> Model:
    """The model, without what says where it comes from."""
    content = data if isinstance(data, bytes) else data.encode()
    found = read_model(text=import_config(content, "config.json", "tiny").text)
    return replace(found, title="", citations=())


def built(values: dict) -> transformers.PretrainedConfig:
    others = {key: value for key, value in values.items() if key != "model_type"}
    return transformers.AutoConfig.for_model(values["model_type"], **others)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("use_diff", [True, False], ids=["diff", "whole"])
def test_what_the_library_writes_says_the_same(name, use_diff):
    data = (CONFIGS / f"{name}.json").read_bytes()
    written = built(json.loads(data)).to_json_string(use_diff=use_diff)
    assert meant(written) == meant(data)


def count(model_type: str, values: dict) -> int:
    config = built({"model_type": model_type, "pad_token_id": 0, **values})
    named = values.get("architectures")
    with torch.device("meta"):
        if named:
            module = getattr(transformers, named[0])(config)
        else:
            module = transformers.AutoModelForCausalLM.from_config(config)
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(("model_type", "values"), VARIANTS, ids=IDS)
def test_a_variant_has_as_many_parameters(model_type, values):
    found = meant(json.dumps({"model_type": model_type, **values}))
    assert parameter_count(found) == count(model_type, values)


@pytest.mark.parametrize(("model_type", "values"), VARIANTS, ids=IDS)
def test_a_variant_is_the_same_when_the_library_writes_it(model_type, values):
    whole = built({"model_type": model_type, **values}).to_json_string(use_diff=False)
    assert meant(whole) == meant(json.dumps({"model_type": model_type, **values}))


def test_every_dialect_has_a_variant():
    assert {model_type for model_type, _ in VARIANTS} == set(BY_MODEL_TYPE)
