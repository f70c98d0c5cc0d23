"""The JSON Schema accepts what the loader accepts and refuses the plain mistakes."""

from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from specc.spec import json_schema
from tests.unit.spec.specs import PAIR, SET, TINY, changed

SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*.yaml"))
VALIDATOR = jsonschema.Draft202012Validator(json_schema())


def errors(text: str) -> list[str]:
    return [e.message for e in VALIDATOR.iter_errors(YAML(typ="safe", pure=True).load(text))]


def test_it_is_a_json_schema():
    jsonschema.Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_the_specs_fit(spec):
    assert errors(spec.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    [
        TINY,
        PAIR + "encoder: {norm: layer, cross_attention: null}\ndropout: 10%\n",
        SET
        + "attention: {n_heads: 4, scale: {inv_sqrt: d_model}}\n".replace(
            "attention", "final_norm"
        ).replace("{n_heads: 4, scale: {inv_sqrt: d_model}}", "true"),
        changed("{n_heads: 4}", "{n_heads: 4, qk_norm: {over: head}, bias: true, scale: 1}"),
        TINY
        + "position: {kind: rope, scaling: {llama3: {factor: 8}}}\nnorm: rms\nhead: [features]\n",
    ],
)
def test_short_forms_fit(text):
    assert errors(text) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("d_model", "d_modle"),
        ("n_layers: 2", "n_layers: on"),
        ("n_layers: 2", "n_layers: 0"),
        ("{d_ff: 64}", "{d_ff: 64, activation: relux}"),
        ("{d_ff: 64}", "{d_ff: print(1)}"),
        ("specc: 1", "specc: 2"),
        ("{n_heads: 4}", "{n_heads: 4, bias: on}"),
    ],
)
def test_plain_mistakes_do_not(old, new):
    assert errors(changed(old, new))


def test_fields_explain_themselves():
    properties = json_schema()["properties"]
    assert all("description" in field for field in properties.values())
    assert "swiglu" in properties["style"]["description"]
