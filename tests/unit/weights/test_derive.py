"""Operations from the IR and a layout: what they cover, and layouts that do not fit."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from specc.convert import to_ours, to_theirs
from specc.importers.layouts import LAYOUTS
from specc.ir.layers import NormWeight
from specc.ir.parameters import parameters
from specc.ir.positions import RotaryLayout
from specc.ir.walk import resize
from specc.pipeline import read_model
from specc.verify.sizes import reduced_sizes
from specc.verify.weights import stress_weights
from specc.weights import Constant, Drop, Entry, Fill, Move, Tie, WeightsError, operations
from specc.weights.patterns import fill, match
from specc.weights.steps import CutRows, Offset, TurnPairs

SPECS = Path(__file__).parents[3] / "specs"
STORED = [path.stem for path in sorted(SPECS.glob("*.yaml")) if read_model(path).layout is not None]


def small(name):
    model = read_model(SPECS / f"{name}.yaml")
    return resize(model, reduced_sizes(model))


@pytest.mark.parametrize("name", STORED)
def test_every_parameter_is_covered_once(name):
    model = read_model(SPECS / f"{name}.yaml")  # at its true size
    found = operations(model, LAYOUTS[model.layout])
    ours = [named for op in found if isinstance(op, Move) for named in op.ours]
    assert sorted((n.name, n.shape) for n in ours) == sorted(
        (p.path, p.shape) for p in parameters(model)
    )
    theirs = [named.name for op in found if isinstance(op, Move) for named in op.theirs]
    assert len(set(theirs)) == len(theirs)
    assert not any(op.loses for op in found if isinstance(op, Move))


@pytest.mark.parametrize("name", sorted(LAYOUTS))
def test_a_layout_is_named_as_it_is_found_and_says_why(name):
    layout = LAYOUTS[name]
    assert layout.name == name
    assert all(dropped.because for dropped in layout.dropped)


def test_the_true_shapes_of_a_published_checkpoint():
    model = read_model(SPECS / "mixtral_8x7b.yaml")
    found = operations(model, LAYOUTS["mixtral"])
    shapes = {n.name: n.shape for op in found if isinstance(op, Move) for n in op.theirs}
    assert shapes["model.layers.31.block_sparse_moe.experts.7.w2.weight"] == (4096, 14336)
    assert len(shapes) == 3 + 32 * (7 + 24)


def steps(name, **changes):
    model = small(name)
    layout = replace(LAYOUTS[model.layout], **changes)
    found = {op.ours[0].name: op.steps for op in operations(model, layout) if isinstance(op, Move)}
    return model, layout, found


def test_pairs_turn_where_rotary_positions_do():
    _, _, found = steps("smollm3_3b", pairs=RotaryLayout.INTERLEAVED)
    assert isinstance(found["layers.0.attention.q_proj.weight"][0], TurnPairs)
    assert isinstance(found["layers.0.attention.k_proj.weight"][0], TurnPairs)
    assert found["layers.0.attention.v_proj.weight"] == ()
    assert found["layers.3.attention.q_proj.weight"] == ()  # no positions there


def test_gains_follow_the_pairs():
    _, _, found = steps("qwen3_0_6b", pairs=RotaryLayout.INTERLEAVED)
    assert isinstance(found["layers.0.attention.q_norm.weight"][0], TurnPairs)


def test_gains_of_another_kind():
    model, layout, found = steps("gemma_2b", gains=NormWeight.PLAIN)
    assert found["layers.0.attention_norm.weight"] == (Offset(0, -1.0),)
    assert found["layers.0.attention.q_proj.weight"] == ()
    weights = {name: w.float() for name, w in stress_weights(model).items()}
    theirs = to_theirs(model, layout, weights).tensors
    assert torch.equal(theirs["model.norm.weight"], (weights["norm.weight"].double() + 1).float())


def test_rows_before_the_first_position():
    _, _, found = steps("gpt2", offset=2)
    assert found["position_embedding.weight"] == (CutRows(0, 2),)
    _, _, found = steps("opt_350m")
    assert found["position_embedding.weight"] == ()  # the spec has the same two rows


def test_a_parameter_that_is_never_published():
    model = small("mpt_7b")
    layout = LAYOUTS["mpt"]
    entries = tuple(e for e in layout.entries if "norm_f" not in e.theirs)
    layout = replace(layout, entries=entries, constants=(Constant("norm.weight", 1.0),))
    fills = [op for op in operations(model, layout) if isinstance(op, Fill)]
    assert [(op.ours.name, op.value) for op in fills] == [("norm.weight", 1.0)]
    weights = {name: w.float() for name, w in stress_weights(model).items()}
    with pytest.raises(WeightsError, match=r"norm\.weight: is not 1 everywhere"):
        to_theirs(model, layout, weights)
    weights["norm.weight"] = torch.ones_like(weights["norm.weight"])
    theirs = to_theirs(model, layout, weights)
    assert theirs.dropped == (("norm.weight", "1 everywhere, and never published"),)
    back = to_ours(model, layout, theirs.tensors).tensors
    assert torch.equal(back["norm.weight"], weights["norm.weight"])


def test_layers_beyond_the_models_own_may_be_there():
    model = small("deepseek_v3")
    layers = len(model.stacks[0].layers)
    drops = [op.pattern for op in operations(model, LAYOUTS["deepseek"]) if isinstance(op, Drop)]
    assert f"model.layers.{layers}.{{any}}" in drops
    assert f"model.layers.{layers - 1}.{{any}}" not in drops


def test_a_tied_head_may_repeat_the_embedding():
    ties = [op for op in operations(small("gpt2"), LAYOUTS["gpt2"]) if isinstance(op, Tie)]
    assert ties == [Tie("lm_head.weight", "transformer.wte.weight")]
    untied = operations(small("llama_2_7b"), LAYOUTS["llama"])
    assert not any(isinstance(op, Tie) for op in untied)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda es: es[1:], "embedding.weight: layout llama does not say how it is stored"),
        (lambda es: (*es, es[0]), "embedding.weight: layout llama stores it twice"),
        (
            lambda es: (*es[1:], Entry("model.norm.weight", ("embedding.weight",))),
            "model.norm.weight: layout llama reads it twice",
        ),
        (
            lambda es: (*es[1:], Entry("x", ("embedding.weight", "nothing.weight"))),
            "embedding.weight: layout llama stores it with nothing.weight, which is not there",
        ),
    ],
)
def test_layouts_that_do_not_fit(change, message):
    layout = LAYOUTS["llama"]
    layout = replace(layout, entries=change(layout.entries))
    with pytest.raises(WeightsError) as caught:
        operations(small("llama_2_7b"), layout)
    assert message in str(caught.value)


def test_many_problems_are_not_all_said():
    with pytest.raises(WeightsError, match=r"\nand \d+ more like these$") as caught:
        operations(small("deepseek_v3"), LAYOUTS["gpt2"])
    assert len(caught.value.problems) > 8


def test_patterns():
    assert match("h.{layer}.ln.{kind}", "h.12.ln.bias") == {"layer": "12", "kind": "bias"}
    assert match("h.{layer}.ln.{kind}", "h.x.ln.bias") is None
    assert match("a.{layer}.{layer}", "a.1.2") is None
    assert match("a.b", "axb") is None
    assert fill("h.{layer}.e.{expert}", {"layer": "3"}) == "h.3.e.{expert}"
    with pytest.raises(ValueError, match="there is no hole"):
        match("h.{lyer}", "h.1")
