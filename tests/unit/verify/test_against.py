"""Parity with transformers: a few families here, all of them in tests/prove/parity.py."""

from dataclasses import replace

import pytest

from specc.importers.hf_configs import DIALECTS, NoDialectError, dialect_of
from specc.importers.layouts import LAYOUTS
from specc.ir.positions import RotaryLayout
from specc.verify import quiet_torch
from specc.verify.against import COMPARISONS, verify_against
from specc.verify.against.canary import canary
from specc.verify.against.library import quiet_library
from specc.verify.against.pair import Pair
from specc.verify.loading import loaded
from specc.verify.report import Status
from specc.weights import Arrangement
from tests.prove.parity import dialects
from tests.unit.verify.files import SPECS, compiled

FEW = ("gpt2", "bert_base", "falcon_40b", "pythia_160m", "gemma_2_2b", "gpt_oss_20b")
BY_NAME = {comparison.name: comparison for comparison in COMPARISONS}


@pytest.mark.parametrize("name", FEW)
def test_a_family_agrees(name):
    report = verify_against(SPECS / f"{name}.yaml")
    assert report.passed, report.failures


def outcome(name, comparison, *, text=None, layout=None):
    """One comparison of a spec whose file or layout was changed."""
    compilation = compiled(name)
    text = compilation.artifact.text if text is None else text
    model = compilation.model
    with quiet_torch(), quiet_library(), loaded(text, model.name) as file:
        given = LAYOUTS[model.layout] if layout is None else layout
        pair = Pair(model, file, dialect_of(model), given)
        return BY_NAME[comparison].run(pair)


@pytest.mark.parametrize(
    "comparison", ["logits", "padded", "cached", "generation", "layers", "float64"]
)
def test_a_broken_file_is_noticed(comparison):
    text = compiled("llama_2_7b").artifact.text
    broken = text.replace("first * cos - second * sin", "first * cos + second * sin")
    assert broken != text
    assert outcome("llama_2_7b", comparison, text=broken).status is Status.FAIL


def test_rows_in_another_order_are_noticed():
    """The shapes agree: only numbers tell."""
    layout = LAYOUTS["gpt_neox"]
    entries = tuple(
        replace(e, fused=Arrangement.BLOCKS) if len(e.ours) > 1 else e for e in layout.entries
    )
    wrong = replace(layout, entries=entries)
    assert outcome("pythia_160m", "logits", layout=wrong).status is Status.FAIL


def test_pairs_of_the_other_kind_are_noticed():
    wrong = replace(LAYOUTS["llama"], pairs=RotaryLayout.INTERLEAVED)
    assert outcome("llama_2_7b", "logits", layout=wrong).status is Status.FAIL
    assert outcome("llama_2_7b", "round_trip", layout=wrong).status is Status.PASS


def test_swaps_that_cannot_matter_are_declared():
    compilation = compiled("bert_base")
    with quiet_torch(), quiet_library(), loaded(compilation.artifact.text, "bert") as file:
        model = compilation.model
        found = canary(Pair(model, file, dialect_of(model), LAYOUTS["bert"]))
    assert (found.missed, found.wrongly) == ((), ())
    assert list(found.declared.values()) == [1]  # the key biases of its two layers
    assert found.pairs > 300


def test_every_dialect_is_proved():
    assert dialects() == set(DIALECTS)


def test_a_model_that_no_library_has():
    with pytest.raises(NoDialectError, match=r"vaswani_base has no source\.layout"):
        verify_against(SPECS / "vaswani_base.yaml")
