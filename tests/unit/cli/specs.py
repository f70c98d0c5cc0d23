"""A small spec that builds, for tests of the command line to break in one place."""

GOOD = """\
specc: 1
name: tiny
style: decoder, pre-norm, rms norm, rotary, swiglu, tied weights
vocab_size: 97
d_model: 32
n_layers: 2
max_seq_len: 64
attention: {n_heads: 4}
feed_forward: {d_ff: 64}
"""


def changed(before: str, after: str) -> str:
    if before not in GOOD:
        raise ValueError(f"{before!r} does not stand in the spec")
    return GOOD.replace(before, after)
