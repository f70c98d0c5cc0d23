"""The documentation of fields is complete, and says what it must."""

import pytest

from specc.spec import field_doc
from specc.spec.docs import _DOCS, UnknownFieldError, meaning_of, paths


@pytest.mark.parametrize("path", paths())
def test_every_field_is_documented(path):
    doc = field_doc(path)
    assert len(doc.meaning) > 10
    assert doc.type
    assert all(mistake.endswith(".") for mistake in doc.mistakes)
    if doc.mistakes:
        assert doc.check


def test_nothing_is_documented_that_is_no_field():
    assert set(_DOCS) <= set(paths())


def test_a_field_is_found_by_path_scope_or_last_word():
    assert field_doc("theta").path == "position.theta"
    assert field_doc("cross_attention.scale").meaning == field_doc("attention.scale").meaning
    assert field_doc("layers.types.local.norm.eps").meaning == field_doc("norm.eps").meaning
    assert field_doc("decoder.attention.n_heads").meaning == field_doc("attention.n_heads").meaning
    assert field_doc("embedding.norm.eps").meaning == field_doc("norm.eps").meaning
    assert field_doc("head[0].tied").path == "head.tied"
    assert meaning_of("attention.nothing") is None


@pytest.mark.parametrize(
    ("path", "close"),
    [("atention.scale", "attention.scale"), ("norm.epz", "norm.eps"), ("zzz", None)],
)
def test_an_unknown_field_has_a_hint(path, close):
    with pytest.raises(UnknownFieldError) as error:
        field_doc(path)
    assert (error.value.hint is None) == (close is None)
    assert close is None or close in str(error.value)


def test_types_and_defaults():
    scale = field_doc("attention.scale")
    assert scale.type == "inv_sqrt_head_dim | one | {inv_sqrt: ...} | number above 0"
    assert scale.default == "inv_sqrt_head_dim"
    assert field_doc("norm.eps").default == "1e-6"
    assert field_doc("final_norm").type.startswith("true | false | layer | rms")
    assert field_doc("embedding.norm.eps").default == "as norm.eps"
    assert field_doc("head.tied").default == "false"
    assert field_doc("block.norm_placement").default == ""


def test_it_says_where_the_components_guide_is_not_followed():
    told = {path: field_doc(path).elsewhere for path in paths()}
    assert "power of two" in told["position.kind"]
    assert "one boolean mask" in told["attention"]
    assert "add & norm" in told["block.norm_placement"]
    assert "True for padding" in told["cross_attention"]
    assert "no final norm" in told["final_norm"]
