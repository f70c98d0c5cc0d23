"""Arithmetic over sizes: what it gives, and everything that it refuses to be."""

import warnings

import pytest

from specc.spec.expressions import ExpressionError, evaluate
from tests.unit.spec.specs import PAIR, TINY, changed, layer, read, refused

SIZES = {"d_model": 32, "n_heads": 4, "vocab_size": 100}


def value(text: str) -> int:
    return evaluate(text, lambda name: SIZES[name])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4 * d_model", 128),
        ("d_model // n_heads", 8),
        ("d_model / n_heads", 8),
        ("(d_model + 3) * 2 - 1", 69),
        ("8 * ((2 * 4 * d_model // 3 + 7) // 8)", 88),
        ("-d_model + 40", 8),
        ("1_000", 1000),
        (" 7 ", 7),
    ],
)
def test_values(text, number):
    assert value(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "d_model / 3",
        "d_model // 0",
        "9 ** 9 ** 9",
        "2 << 999999",
        "5 % 3",
        "print(1)",
        "__import__('os')",
        "d_model.__class__",
        "(1).real",
        "[1][0]",
        "1 if 1 else 2",
        "lambda: 1",
        "'a' * 9",
        "True",
        "1.5",
        "4d_model",
        "1e3",
        "0x10",
        "head",
        "d_modle",
        "",
        "d_model d_model",
        "1 +",
        "9" * 60,
        "99999999999 * 99999999999",
        "(" * 150 + "1" + ")" * 150,
        "1" + "+1" * 200,
        "d_model := 3",
        "a\x00b",
        "d_model\nd_model",
    ],
)
def test_refusals(text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ExpressionError):
            value(text)


def test_sizes_of_a_spec_refer_to_each_other():
    text = changed("d_model: 32", "d_model: 8 * n_heads").replace("64", "4 * d_model")
    spec = read(text).spec
    assert spec.d_model == 32
    assert spec.stacks[0].types["layer"].feed_forward.d_ff == 128


def test_derived_sizes_have_values():
    assert layer(changed("64", "2 * head_dim * n_kv_heads")).feed_forward.d_ff == 64


def test_a_stack_has_sizes_of_its_own():
    text = (
        PAIR.replace("64", "2 * d_model")
        + "decoder: {n_layers: n_heads, attention: {n_heads: 8}}\n"
    )
    encoder, decoder = read(text).spec.stacks
    assert (encoder.n_layers, decoder.n_layers) == (2, 8)
    assert decoder.types["layer"].attention.head_dim == 4


def test_a_circle_is_named():
    error = str(refused(changed("d_model: 32", "d_model: d_ff").replace("64", "2 * d_model")))
    assert "d_ff -> d_model -> d_ff" in error


def test_a_size_that_is_not_there():
    assert "'max_seq_len' has no value here" in str(
        refused(
            changed("64", "max_seq_len").replace("max_seq_len: 16\n", "").replace("learned", "no")
        )
    )


def test_whole_numbers_with_an_exponent_and_fractions_in_per_cent():
    text = TINY + "paper: {title: x, claims: {parameters: 65e6, tolerance: 4%}}\n"
    claims = read(text).spec.paper.claims
    assert (claims.parameters, claims.tolerance) == (65_000_000, 0.04)


def test_seventy_billion_parameters_may_be_claimed():
    text = TINY + "paper: {title: x, claims: {parameters: 70e9}}\n"
    assert read(text).spec.paper.claims.parameters == 70_000_000_000
