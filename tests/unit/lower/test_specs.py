"""The repository's specs through lowering: counts to the last parameter, claims, ledgers."""

from __future__ import annotations

from pathlib import Path

import pytest

from specc.ir.model import Model
from specc.ir.parameters import parameter_count
from specc.ir.walk import config_fields
from specc.lower import lower
from specc.spec import load

SPECS = Path(__file__).parents[3] / "specs"
NAMES = sorted(path.stem for path in SPECS.glob("*.yaml"))

PUBLISHED = {
    "gpt2": 124_439_808,
    "bert_base": 110_106_428,
    "llama_3_2_1b": 1_235_814_400,
    "bloom_560m": 559_214_592,
}


def model(name: str) -> Model:
    path = SPECS / f"{name}.yaml"
    return lower(load(path.read_bytes(), str(path)).spec)


@pytest.mark.parametrize(("name", "count"), PUBLISHED.items())
def test_published_count(name, count):
    assert parameter_count(model(name)) == count


def test_counts_that_torch_gives():
    # nn.TransformerEncoderLayer(d, ...): 4d^2 + 4d, 2*d*d_ff + d_ff + d, two norms of 2d
    d, f = 256, 1024
    layer = 4 * d * d + 4 * d + 2 * d * f + f + d + 4 * d
    assert parameter_count(model("text_classifier")) == 30_000 * d + 4 * layer + 4 * d + 4
    # tiny: no bias in attention, an untied head, a last norm
    layer = 4 * d * d + 2 * d * f + f + d + 4 * d
    assert parameter_count(model("tiny_transformer_lm")) == 2 * 10_000 * d + 4 * layer + 2 * d
    d, f = 512, 2048
    layer = 4 * d * d + 4 * d + 2 * d * f + f + d + 4 * d
    post = (32_000 + 512) * d + 6 * layer
    assert parameter_count(model("transformer_encoder_post")) == post
    assert parameter_count(model("transformer_encoder_pre")) == post + 2 * d


def test_the_temperature_is_all_that_sets_the_set_models_apart():
    l2, rms = model("set_attention_l2"), model("set_attention_rms")
    assert parameter_count(l2) - parameter_count(rms) == 4 * 8


@pytest.mark.parametrize("name", NAMES)
def test_every_claim_holds(name):
    found = model(name)
    if found.paper is not None and found.paper.claim is not None:
        claim = found.paper.claim
        gap = abs(parameter_count(found) - claim.parameters) / claim.parameters
        assert gap <= claim.tolerance


@pytest.mark.parametrize("name", NAMES)
def test_every_number_has_one_name_and_every_spec_a_ledger(name):
    found = model(name)
    fields = config_fields(found)
    assert len({field.name for field in fields}) == len(fields)
    cited = {citation.config_name for citation in found.citations} - {None}
    assert cited <= {field.name for field in fields}
    assert len(found.citations) >= 20


def test_citations_of_a_spec():
    found = {c.path: c for c in model("vaswani_base").citations}
    assert found["block.norm_placement"].text == '§3.1: "LayerNorm(x + Sublayer(x))"'
    eps = found["norm.eps"]
    assert eps.text == "not stated: as in the authors' code (tensor2tensor) (else 1e-5)"
    assert eps.config_name == "norm_eps"
