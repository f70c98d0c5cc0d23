"""Documentation of positions: sinusoidal, learned, rotary, ALiBi, none."""

from specc.spec.docs.doc import Doc

DOCS: dict[str, Doc] = {
    "position": Doc(
        (
            "How the model knows the order of its tokens: a word, or a mapping with a kind. "
            "Tables added at the input (sinusoidal, learned) belong to a stack; what acts "
            "inside attention (rope, alibi, none) to a layer type."
        ),
        mistakes=(
            "Several at once: tables at the input and rotation inside, by copying two models.",
        ),
        check="forward parity with golden",
    ),
    "position.kind": Doc(
        (
            "sinusoidal: a fixed table added to the embeddings. learned: a trained one. rope: "
            "q and k are turned by an angle that grows with the position. alibi: a bias to "
            "the scores that falls with distance. none: nothing."
        ),
        source="Vaswani et al. 2017 §3.5; Gehring et al. 2017; Su et al. 2021; Press et al. 2022",
        mistakes=(
            (
                "Rotation added to the embeddings, or applied to v too: it acts on q and k "
                "only, after their projections."
            ),
            (
                "ALiBi's slopes as 2^(-8i/n) for every n: right only when n is a power of "
                "two. For 12 heads they are the 8 slopes of 8 heads, then every other slope "
                "of 16."
            ),
            "ALiBi's first slope 1 in place of 2^(-8/n): the exponent counts from one.",
        ),
        check=(
            "tables and slopes against published vectors (n = 6, 12, 20); causality; shift "
            "invariance"
        ),
        elsewhere=(
            "The components guide that specc was seeded with gives ratio^i slopes for any "
            "head count; they are wrong when it is no power of two, and a test holds specc to "
            "the published ones. It also adds slope * (key - query) in both directions, which "
            "rewards the future in a bidirectional model; specc uses -slope * |key - query|."
        ),
    ),
    "position.layout": Doc(
        (
            "Which features belong together. sinusoidal, interleaved: sin, cos, sin, cos; "
            "concat: all sines, then all cosines. rope, half: feature i turns with i + r/2; "
            "interleaved: 2i with 2i + 1."
        ),
        source="Vaswani et al. 2017 §3.5; Su et al. 2021 §3.2",
        mistakes=(
            (
                "Weights of one layout run with the other: the text stays fluent and worsens "
                "with length. Position 0 proves nothing, it is not turned."
            ),
            (
                '"Repairing" half to the paper\'s interleaved pairs: both are right, each '
                "with its own weights."
            ),
            "cos and sin repeated for one layout, pairs taken in the other.",
        ),
        check="forward parity at positions above 0; the mutant that swaps the pairs",
    ),
    "position.frequency": Doc(
        (
            "The exponent of 1/10000 for pair k of a sinusoidal table. 2k/d: Vaswani's. "
            "k/(half-1): runs to exactly 1 at the last pair, as tensor2tensor's."
        ),
        source="Vaswani et al. 2017, §3.5",
        mistakes=(
            "arange(0, d) in place of arange(0, d, 2) for the exponents.",
            "The cosine channel given its own exponent: sine and cosine of a pair must share one.",
        ),
        check="the table against published vectors; sin^2 + cos^2 = 1 for each pair",
    ),
    "position.index": Doc(
        (
            "Which number a token's position is. mask: how many real tokens came before. "
            "arange: its column, padding counted. ids (learned only): how many ids before it "
            "are not embedding.pad_id, a padding id itself being -1: with offset pad_id + 1 "
            "it reads the padding's row."
        ),
        mistakes=(
            (
                "arange with left padding: the shorter prompts of a batch start late, and two "
                "pads change nearly every prediction."
            ),
            "Counting on from the padded length when generating.",
            "The mask counted where a model counts ids: they differ inside a masked text.",
        ),
        check="padding left 0..3 equals none; cache equals full with padding",
    ),
    "position.offset": Doc(
        "Position p reads row p + offset of a learned table, which has that many rows more.",
        mistakes=(
            (
                "Forgotten (2 is common), or kept for a descendant that has none: every "
                "position reads another's row."
            ),
            "A table that is offset rows too short: the longest input crashes.",
        ),
        check="parameter count (offset * d_model); forward at the full length",
    ),
    "position.theta": Doc(
        "The base of rotary frequencies: pair i turns by position * theta^(-2i/r).",
        source="Su et al. 2021, §3.2.2",
        mistakes=(
            (
                "10000 assumed where the model has 500000 or 1000000; a lookup with a default "
                "hides it."
            ),
            "Local and global layers given one theta where they have two.",
            (
                "Angles formed in bfloat16: positions above 256 fall together. specc forms "
                "tables in float64, rounds once."
            ),
        ),
        check="forward parity; dtypes; the table against published vectors",
    ),
    "position.fraction": Doc(
        (
            "How much of each head turns: r = int(head_dim * fraction) features, the first ones "
            "unless slice says otherwise; the rest pass."
        ),
        source="Black et al. 2022 (GPT-NeoX), §2.1",
        mistakes=(
            "head_dim in the exponent where r is meant.",
            "The pair offset head_dim/2 in place of r/2.",
        ),
        check="forward parity with fraction 0.5",
    ),
    "position.scaling.low_freq_factor": Doc(
        (
            "Waves longer than original_max_seq_len / low_freq_factor are divided by the "
            "whole factor."
        ),
        mistakes=("Swapped with high_freq_factor.",),
        check="the table against published vectors",
    ),
    "position.scaling.high_freq_factor": Doc(
        "Waves shorter than original_max_seq_len / high_freq_factor are kept as they are.",
        mistakes=("Swapped with low_freq_factor.",),
        check="the table against published vectors",
    ),
}
