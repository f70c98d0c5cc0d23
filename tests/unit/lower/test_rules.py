"""Every rule across fields refuses what it should, at the right path and in plain words."""

from __future__ import annotations

import pytest

from tests.unit.lower.build import (
    LAYER_NORM,
    RMS_NORM,
    decoder,
    encoder_decoder,
    features,
    layer,
    lowered,
    refused,
    spec,
    stack,
    two_types,
)
from tests.unit.lower.refusals import CASES, CROSSED, PARALLEL


def written(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in path).lstrip(".")


@pytest.mark.parametrize(("changes", "path", "message"), CASES.values(), ids=CASES)
def test_refusal(changes, path, message):
    found = refused(**changes)
    assert [written(each.path) for each in found if message in each.message] == [path]
    assert all(each.position is None for each in found)


def test_the_spec_that_all_cases_start_from_is_fine():
    assert lowered().name == "tiny"
    assert lowered(**encoder_decoder()).kind.value == "encoder_decoder"
    assert lowered(**features()).kind.value == "features"


def test_one_run_shows_all():
    found = refused(
        **decoder(attention={"n_heads": 3, "n_kv_heads": 2}, norm={**RMS_NORM, "bias": True}),
        vocab_size=None,
        features=("cache",),
        heads=(),
    )
    assert {written(each.path) for each in found} == {
        "attention.n_heads",
        "attention.n_kv_heads",
        "norm.bias",
        "vocab_size",
        "head",
    }


def test_a_problem_of_one_type_stands_at_that_type():
    found = refused(**two_types({}, {"attention": {"n_heads": 2, "n_kv_heads": 4}}))
    assert [written(each.path) for each in found] == ["layers.types.global.attention.n_kv_heads"]


def test_a_problem_of_one_stack_stands_at_that_stack():
    broken = {"n_heads": 4, "n_kv_heads": 3}
    found = refused(**encoder_decoder(encoder=stack("encoder", {"layer": layer(attention=broken)})))
    assert [written(each.path) for each in found] == ["encoder.attention.n_kv_heads"]


def test_a_problem_of_every_layer_stands_once_at_the_base():
    broken = {"attention": {"n_heads": 4, "n_kv_heads": 3}}
    crossed = {"layer": layer(CROSSED, **broken)}
    changes = encoder_decoder(stack("encoder", {"layer": layer(**broken)}), stack(types=crossed))
    assert [written(each.path) for each in refused(**changes)] == ["attention.n_kv_heads"]


def test_an_inherited_norm_is_reported_once():
    broken = {**RMS_NORM, "bias": True}
    types = {"layer": layer(norm=broken)}
    found = refused(stacks=(stack(types=types, final_norm=broken),), embedding={"norm": broken})
    assert [written(each.path) for each in found] == ["norm.bias"]


def test_the_misspelt_layer_type_has_a_suggestion():
    found = refused(stacks=(stack(types={"local": layer()}, pattern=("local", "locla")),))
    assert [each.hint for each in found] == ["did you mean 'local'?"]


def test_what_looks_odd_and_is_allowed():
    one_plus = {**LAYER_NORM, "weight": "one_plus_w"}
    lowered(**decoder(norm=one_plus))
    lowered(**decoder(attention={"n_heads": 2, "qk_norm": {"kind": "l2"}}))
    full = {"kind": "rms", "over": "full"}
    lowered(**decoder(attention={"n_heads": 2, "qk_norm": full, "projection": "fused"}))
    lowered(**decoder(block={"norm_placement": "sandwich", "shared_norm": True, **PARALLEL}))
    lowered(max_seq_len=None)
    assert spec().max_seq_len == 16
