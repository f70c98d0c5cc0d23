"""The ledger against the spec, and what --strict asks of it."""

import pytest

from specc.diagnostics import Position
from tests.unit.spec.specs import PAIR, TINY, read, refused


def with_entry(key: str, entry: str, text: str = TINY) -> str:
    return f"{text}ledger:\n  {key}: {{{entry}}}\n"


@pytest.mark.parametrize(
    ("key", "choice"),
    [
        ("norm.eps", "1e-6"),
        ("norm.kind", "layer"),
        ("norm", "layer"),
        ("final_norm", "true"),
        ("attention.bias", "false"),
        ("attention.bias.q", "false"),
        ("attention.scale", "inv_sqrt_head_dim"),
        ("attention.qk_norm", "none"),
        ("attention.n_kv_heads", "4"),
        ("position", "learned"),
        ("position.kind", "learned"),
        ("embedding.scale", "1"),
        ("embedding.norm", "false"),
        ("head.tied", "false"),
        ("head", "language_model"),
        ("feed_forward.d_ff", "64"),
        ("feed_forward.activation", "gelu_erf"),
        ("n_layers", "2"),
        ("kind", "decoder"),
        ("dropout", "0"),
        ("block.sublayers", "'attention, feed_forward'"),
    ],
)
def test_choices_that_equal_the_spec(key, choice):
    loaded = read(with_entry(key, f"status: unstated, because: x, choice: {choice}"))
    assert key in loaded.spec.ledger


@pytest.mark.parametrize(
    ("key", "choice"),
    [
        ("norm.eps", "1e-5"),
        ("norm.kind", "rms"),
        ("final_norm", "false"),
        ("attention.bias", "true"),
        ("attention.qk_norm", "rms"),
        ("head.tied", "true"),
        ("n_layers", "3"),
        ("n_layers", "true"),
        ("embedding.norm", "true"),
    ],
)
def test_choices_that_do_not(key, choice):
    error = refused(with_entry(key, f"status: unstated, because: x, choice: {choice}"))
    assert "the ledger never assigns" in str(error)
    assert error.diagnostics[0].position.line == 11


def test_arithmetic_may_be_chosen_as_it_is_written():
    text = TINY.replace("64", "2 * d_model")
    read(with_entry("feed_forward.d_ff", "status: stated, choice: 2 * d_model", text))
    read(with_entry("feed_forward.d_ff", "status: stated, choice: 64", text))


@pytest.mark.parametrize(
    "key", ["norm.epz", "atention", "layers.types.local.attention", "head.pool"]
)
def test_keys_that_name_nothing_here(key):
    assert "ledger speaks of" in str(refused(with_entry(key, "status: stated")))


def test_keys_of_layer_types_and_stacks():
    types = TINY + (
        "position: {kind: rope, theta: 10000}\n"
        "layers: {pattern: [a, b], types: {a: {}, b: {position: {theta: 5}}}}\n"
    )
    read(with_entry("position.theta", "status: stated, choice: 10000", types))
    read(with_entry("layers.types.b.position.theta", "status: stated, choice: 5", types))
    read(with_entry("layers.types.a.position.theta", "status: stated, choice: 10000", types))
    read(with_entry("layers.pattern", "status: stated", types))
    refused(with_entry("layers.types.b.position.theta", "status: stated, choice: 6", types))
    pair = PAIR + "decoder: {n_layers: 3}\n"
    read(with_entry("decoder.n_layers", "status: stated, choice: 3", pair))
    read(with_entry("encoder.n_layers", "status: stated, choice: 2", pair))
    read(with_entry("encoder", "status: stated", pair))


def test_keys_of_one_head_among_several():
    heads = TINY.replace("decoder", "encoder") + (
        "head:\n- {kind: classifier, pool: first, n_classes: 2, name: a}\n"
        "- {kind: classifier, pool: mean, n_classes: 3, name: b}\n"
    )
    read(with_entry("head[1].n_classes", "status: stated, choice: 3", heads))
    refused(with_entry("head[0].n_classes", "status: stated, choice: 3", heads))


def test_an_entry_covers_its_subtree():
    loaded = read(with_entry("attention", "status: stated, at: §3"))
    covered = {field.path: field.entry_key for field in loaded.effective}
    assert covered["attention.bias.q"] == "attention"
    assert covered["feed_forward.d_ff"] is None


def missing(text: str) -> set[str]:
    marker = ", and the ledger does not say"
    return {d.message.split(" ")[0] for d in read(text).strict() if marker in d.message}


def test_strict_names_what_no_entry_covers():
    found = missing(TINY)
    assert {"d_model", "kind", "position.kind", "attention.n_heads", "feed_forward.d_ff"} <= found
    assert {"norm.eps", "attention.scale", "attention.bias.q", "head.tied", "init.std"} <= found
    assert (
        not {"name", "features", "attention.head_dim", "position.index", "dropout.ff_out"} & found
    )


def test_strict_is_content_when_all_is_covered():
    keys = "kind vocab_size d_model n_layers max_seq_len embedding position norm block attention "
    keys += "feed_forward final_norm head dropout init"
    ledger = "".join(f"  {key}: {{status: stated, at: §1}}\n" for key in keys.split())
    assert read(f"{TINY}ledger:\n{ledger}").strict() == ()


def test_strict_asks_where_and_why():
    found = read(
        TINY + "ledger:\n  norm: {status: stated}\n  attention: {status: unstated}\n"
    ).strict()
    told = {d.message: d.position for d in found}
    assert told["norm is said to be 'stated', but not where"] == Position(11, 9)
    assert told["attention is 'unstated', but not why it was chosen"] == Position(12, 14)


def test_strict_points_at_lines():
    places = {d.message.split(" ")[0]: d.position for d in read(TINY).strict()}
    assert places["d_model"] == Position(5, 10)
    assert places["block.norm_placement"] == Position(3, 17)
