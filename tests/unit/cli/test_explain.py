import json
from pathlib import Path

import jsonschema
import pytest
from ruamel.yaml import YAML

from specc.pipeline import read_model
from specc.spec.docs import paths
from tests.unit.cli.specs import GOOD

SPECS = sorted((Path(__file__).parents[3] / "specs").glob("*.yaml"))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_an_explained_spec_is_the_same_spec(specc, spec):
    text = specc("explain", spec).out
    assert read_model(text=text) == read_model(spec)


def test_it_says_who_set_what(specc, folder):
    (folder / "good.yaml").write_text(
        GOOD + "ledger: {norm.eps: {status: stated, at: §3, choice: 1e-6}}\n", encoding="utf-8"
    )
    lines = [line.split("#") for line in specc("explain", "good.yaml").out.splitlines()[1:]]
    found = {code.strip(): note[0].strip() for code, *note in lines if note}
    assert found["d_model: 32"] == "line 5"
    assert found["norm_placement: pre"] == "from style"
    assert found["theta: 10000.0"] == "default"
    assert found["head_dim: 8"] == "derived"
    assert found["eps: 1e-06"] == "default; stated (§3)"


def test_layer_types_are_shown_apart(specc, folder):
    spec = GOOD + (
        "layers:\n  pattern: [a, b]\n  types: {a: {position: {kind: rope, theta: 5000}}, b: {}}\n"
    )
    (folder / "good.yaml").write_text(spec)
    text = specc("explain", "good.yaml").out
    assert "theta: 5000" in text
    assert read_model(text=text) == read_model("good.yaml")


@pytest.mark.parametrize("field", paths())
def test_every_field_is_explained(specc, field):
    result = specc("explain", field)
    assert result.code == 0
    assert len(result.out.splitlines()) >= 3


def test_what_the_knowledge_file_does_otherwise_is_named(specc):
    text = " ".join(specc("explain", "position.kind").out.split())
    assert "wrong when it is no power of two" in text


def test_the_json_schema_accepts_every_spec(specc):
    schema = json.loads(specc("schema").out)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    for spec in SPECS:
        data = YAML(typ="safe", pure=True).load(spec.read_text(encoding="utf-8"))
        assert list(validator.iter_errors(data)) == []


@pytest.mark.parametrize(
    "edit", [("d_model: 32", "d_modle: 32"), ("n_layers: 2", "n_layers: yes please")]
)
def test_the_json_schema_refuses_mistakes(specc, edit):
    validator = jsonschema.Draft202012Validator(json.loads(specc("schema").out))
    data = YAML(typ="safe", pure=True).load(GOOD.replace(*edit))
    assert list(validator.iter_errors(data)) != []
