"""Documentation of rotary slices, and of rotary frequencies scaled for longer texts."""

from specc.spec.docs.doc import Doc

DOCS: dict[str, Doc] = {
    "position.slice": Doc(
        "Which features of a head turn when not all do: the first, or the last.",
        source="Black et al. 2022 (first); DeepSeek-AI 2024 (last)",
        mistakes=("The other end: shapes agree, and position 0 shows nothing.",),
        check="forward parity with fraction 0.5 at positions above 0; the mutant that swaps them",
    ),
    "position.scaling": Doc(
        (
            "Rotary frequencies stretched for longer contexts. linear: all divided by a factor. "
            "llama3: long waves divided, short ones kept, a blend between. dynamic: theta grows "
            "with the length of the call. yarn: a ramp over the pairs, and a factor for cos and "
            "sin. longrope: a divisor for each pair, one set for short and one for long calls. "
            "proportional: exponents over the whole head, of which only a part turns."
        ),
        source=(
            "Chen et al. 2023 (linear); Grattafiori et al. 2024, §3.3 (llama3); Peng et al. 2023 "
            "(yarn, dynamic); Ding et al. 2024 (longrope)"
        ),
        mistakes=(
            "Read from the config and never applied: everything after position 0 drifts.",
            "Positions divided where frequencies should be, twice over.",
            "Given to layers that keep their plain positions (local ones, say).",
        ),
        check="the table against published vectors: of 32 pairs 15 kept, 3 blended, 14 divided",
    ),
    "position.scaling.kind": Doc(
        "linear, llama3, dynamic, yarn, longrope or proportional.",
        mistakes=(
            (
                "proportional taken for a fraction: theta^(-2i/head_dim) over pairs (i, i + "
                "head_dim/2), where a fraction has its own width in both places."
            ),
            (
                "dynamic with a table that is never made anew: a long prompt then changes what "
                "later short ones give."
            ),
        ),
        check="the table against published vectors; a short, a long and the short call again",
    ),
    "position.scaling.factor": Doc(
        "What frequencies are divided by; dynamic: how fast theta grows with the length.",
    ),
    "position.scaling.original_max_seq_len": Doc(
        (
            "The length that the model was first trained on, before it was stretched. dynamic "
            "and longrope change beyond it: they go by the cache's capacity, and without a "
            "cache by the length of the call."
        ),
        mistakes=(
            "The new length in its place.",
            "Chosen by the present length while a cache fills: old keys keep the other turn.",
        ),
        check="the table against published vectors; cache parity across the border",
    ),
    "position.scaling.beta_fast": Doc(
        "yarn: pairs that turn more often than this over the original length are kept.",
        source="Peng et al. 2023, §3.2",
        mistakes=("Swapped with beta_slow: the ramp has no length.",),
        check="the table against published vectors",
    ),
    "position.scaling.beta_slow": Doc(
        "yarn: pairs that turn less often than this are divided by the whole factor.",
        source="Peng et al. 2023, §3.2",
        mistakes=("Swapped with beta_fast: the ramp has no length.",),
        check="the table against published vectors",
    ),
    "position.scaling.attention_factor": Doc(
        (
            "yarn and longrope: what cos and sin are multiplied by, so that scores keep their "
            "spread. By default yarn: 0.1 ln(factor) + 1, or the quotient of the two mscales; "
            "longrope: sqrt(1 + ln(max/original) / ln(original))."
        ),
        source="Peng et al. 2023, §3.4; Ding et al. 2024",
        mistakes=(
            "A number that the config gives ignored for the formula's.",
            "Left out: every score is too small by its square.",
            "Multiplied into the scale too.",
        ),
        check="cos^2 + sin^2 of the table; the mutant that sets it to 1",
    ),
    "position.scaling.mscale": Doc(
        "yarn: with mscale_all_dim, m(factor, mscale) / m(factor, mscale_all_dim) scales cos, sin.",
        source="DeepSeek-AI 2024",
        mistakes=("Both ignored: 1.277 where the two are equal and 1 is right.",),
        check="the table against published vectors",
    ),
    "position.scaling.mscale_all_dim": Doc(
        (
            "yarn: see mscale. m(f, s) = 0.1 s ln f + 1. Such models also multiply the scale of "
            "their scores: see attention.scale_multiplier."
        ),
        source="DeepSeek-AI 2024",
        mistakes=("The second factor, on the scores, forgotten.",),
        check="forward parity with several keys",
    ),
    "position.scaling.truncate": Doc(
        "yarn: whether the ends of the ramp are rounded to whole pairs, outwards.",
        mistakes=(
            "Rounded where the model does not: a few middle pairs differ by a little.",
            "The switch looked for in the wrong place of a nested config, and not found.",
        ),
        check="the table against published vectors; the mutant that flips it",
    ),
    "position.scaling.short_factors": Doc(
        "longrope: each pair's divisor for calls up to original_max_seq_len tokens.",
        source="Ding et al. 2024",
        mistakes=(
            "Never used: one long row makes the whole batch a long call.",
            "As many as head_dim / 2 where fewer features turn.",
        ),
        check="forward parity with calls on both sides of the border",
    ),
    "position.scaling.long_factors": Doc(
        "longrope: each pair's divisor for calls of more tokens.",
        source="Ding et al. 2024",
        mistakes=("Exchanged with short_factors.",),
        check="forward parity with calls on both sides of the border",
    ),
}
