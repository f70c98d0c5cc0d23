"""Specs that the tests of this folder start from, and how they read them."""

from specc.diagnostics import SpecError
from specc.spec import LoadedSpec, load

TINY = """\
specc: 1
name: tiny
style: decoder, pre-norm, learned positions, gelu
vocab_size: 100
d_model: 32
n_layers: 2
max_seq_len: 16
attention: {n_heads: 4}
feed_forward: {d_ff: 64}
"""

PAIR = """\
specc: 1
name: pair
style: encoder-decoder, pre-norm, rms norm, rope, swiglu
vocab_size: 100
d_model: 32
n_layers: 2
max_seq_len: 16
attention: {n_heads: 4}
feed_forward: {d_ff: 64}
"""

SET = """\
specc: 1
name: some_set
style: set, pre-norm, relu squared
d_model: 32
n_layers: 2
attention: {n_heads: 4}
feed_forward: {d_ff: 64}
"""


def read(text: str | bytes) -> LoadedSpec:
    return load(text, "spec.yaml")


def refused(text: str | bytes) -> SpecError:
    """The refusal of a bad spec."""
    try:
        read(text)
    except SpecError as error:
        return error
    raise AssertionError(f"not refused:\n{text!r}")


def changed(old: str, new: str, text: str = TINY) -> str:
    assert old in text
    return text.replace(old, new)


def layer(text: str, stack: int = 0, name: str = "layer"):
    """One resolved layer type."""
    return read(text).spec.stacks[stack].types[name]


def values(text: str) -> dict[str, object]:
    """Every effective value by its path."""
    return {field.path: field.value for field in read(text).effective}
