"""Documentation of what attention looks at and how it scores: reach, sinks, gates, latents."""

from specc.spec.docs.doc import Doc

DOCS: dict[str, Doc] = {
    "attention.kind": Doc(
        (
            "multi_head: q, k and v are projected from x. latent: keys and values of all heads "
            "unfold from one small latent a token, which is what the cache keeps."
        ),
        source="Vaswani et al. 2017; DeepSeek-AI 2024, §2.1 (latent)",
        mistakes=("The unfolded keys and values cached: right numbers, none of the memory saved.",),
        check="forward parity; cache equals full; the shapes of the cache",
    ),
    "attention.window": Doc(
        (
            "A query sees near keys only. Causal: the last `window` columns, its own counted "
            "(query - key < window), and a cache keeps no more: window - 1 tokens before the new "
            "ones. Both ways: window columns to each side (|query - key| <= window)."
        ),
        source="Beltagy et al. 2020; Jiang et al. 2023, §2",
        mistakes=(
            (
                "One key too many: a kernel's window (w, w) is inclusive, so it must be given "
                "w - 1. Two backends of one model then see 2048 and 2049 keys."
            ),
            "Counted without the query's own key, or the causal bound used both ways.",
            "The wrong layers given the window: local and global ones exchanged.",
            "Tested with inputs that fit the window: every variant agrees.",
            "A mask over all tokens so far beside a cache of the window: other columns are meant.",
        ),
        check="keys counted row by row, longer than the window; cache parity beyond it",
    ),
    "attention.chunk": Doc(
        (
            "A query sees only the tokens before it in its own chunk of that many: equal "
            "position // chunk, counted in real tokens. A cache keeps all: padding among them may "
            "stretch a chunk over any number of columns."
        ),
        source="Meta 2025 (Llama 4)",
        mistakes=(
            "Columns counted in place of positions: left padding moves every border.",
            "A window of that size in its place: they differ everywhere but at a chunk's end.",
        ),
        check="padding left equals none; inputs longer than a chunk; cache parity across a border",
    ),
    "attention.clip_qkv": Doc(
        "q, k and v are clamped to [-clip, clip] as they are projected, before any norm.",
        source="MosaicML 2023 (MPT); Groeneveld et al. 2024 (OLMo)",
        mistakes=(
            "Read from the config and never applied: weights of a usual size do not reach it.",
            "q and k only.",
            "After the norm or the turn.",
        ),
        check="forward parity with projections beyond the clip; the mutant that drops it",
    ),
    "attention.softcap": Doc(
        "Scores become cap * tanh(scores / cap): after the scale, before bias and mask.",
        source="Gemma Team 2024, §2",
        mistakes=(
            (
                "After the mask: -inf becomes -cap, and with cap 1 a fifth of the weight falls "
                "on future keys."
            ),
            "x * tanh(x / cap), which bounds nothing.",
            "Before the scale.",
            "Left out because a fused kernel has no such option.",
        ),
        check="causality with a cap of 1; |score| <= cap; forward parity with scores beyond it",
    ),
    "attention.sinks": Doc(
        (
            "One learned score a head takes part in the softmax and has no value, so that the "
            "weights of the keys may sum to less than one. Scores 1, 2, 3 beside a sink of 2 "
            "keep 0.803."
        ),
        source="Xiao et al. 2023; OpenAI 2025 (gpt-oss)",
        mistakes=(
            "The sink given a value, the first key's or zero's, and so a place in the numerator.",
            "One sink for all heads, or one for each key/value head.",
            "Scaled or capped as if it were a product of q and k.",
            "Left out: sinks that start near 0 hide it in a short test.",
        ),
        check="row sums of the weights below one; forward parity with random sinks",
    ),
    "attention.temperature": Doc(
        (
            "Queries are multiplied by 1 + coefficient * ln(1 + floor((position + 1) / floor)): "
            "sharper attention far into a long input. {} has the usual numbers."
        ),
        source="Nakanishi 2025 (scalable softmax); Meta 2025 (Llama 4)",
        mistakes=(
            "Only layers without rotary positions have it in the models that use it.",
            "position in place of position + 1: wrong only at the multiples of floor.",
            "Tested with inputs shorter than floor, where it is 1 throughout.",
        ),
        check="forward parity with a floor below the length; padding left equals none",
    ),
    "attention.temperature.floor": Doc(
        "How many tokens a step of the temperature is long.",
        mistakes=("A division without rounding down.",),
        check="forward parity with inputs of several steps",
    ),
    "attention.temperature.coefficient": Doc(
        "What the logarithm is multiplied by.", check="Config; forward parity"
    ),
    "attention.gate": Doc(
        (
            "sigmoid: the merged heads are multiplied, feature by feature, by sigmoid(W x) "
            "before the output projection. W has a bias where q has one."
        ),
        source="Qiu et al. 2025",
        mistakes=(
            "One number for each head, where the gate has head_dim of them.",
            "After the output projection, where widths may agree by chance.",
            "A checkpoint keeps query and gate rows head by head in one matrix: split halfway.",
        ),
        check="parameter count; forward parity with n_heads * head_dim != d_model",
    ),
    "attention.scale_by_layer": Doc(
        "Scores are also divided by the layer's number, counted from 1.",
        source="Karamcheti et al. 2021 (Mistral, GPT-2 code)",
        mistakes=("Counted from 0: the first layer divides by nothing.",),
        check="forward parity with three layers or more; the mutant that drops it",
    ),
    "attention.qk_norm.when": Doc(
        "Whether q and k are normed before or after rotary positions turn them.",
        mistakes=(
            (
                "One taken for the other: a turn keeps lengths, so the two agree until norm "
                "weights differ from feature to feature."
            ),
        ),
        check="forward parity with random norm weights, at positions above 0",
    ),
    "attention.nope_head_dim": Doc(
        "Latent attention: how many features of a head's query and key carry no position.",
        source="DeepSeek-AI 2024, §2.1.3",
        mistakes=("The rotary features put before them: a checkpoint has these first.",),
        check="parameter count; forward parity with two different widths",
    ),
    "attention.rope_head_dim": Doc(
        (
            "Latent attention: how many features of a head's query turn, and the width of the "
            "one key part that all heads share."
        ),
        source="DeepSeek-AI 2024, §2.1.3",
        mistakes=(
            "The shared key left unturned, or turned after it was cached and once more later.",
            "The shared key normed with the latent: only the latent's features are.",
        ),
        check="forward parity at positions above 0; cache parity",
    ),
    "attention.value_head_dim": Doc(
        "Latent attention: the width of a head's value, which its key's need not equal.",
        mistakes=("Values padded to the key's width and never cut.",),
        check="parameter count; forward parity with value_head_dim != nope_head_dim",
    ),
    "attention.kv_rank": Doc(
        "Latent attention: the width of the latent that keys and values unfold from.",
        source="DeepSeek-AI 2024, §2.1.2",
        mistakes=(
            (
                "The unfolded rows cut as all keys, then all values: each head has its key "
                "features and then its value's."
            ),
        ),
        check="parameter count; forward parity with several heads",
    ),
    "attention.q_rank": Doc(
        "Latent attention: the width of the queries' own latent; without it one map makes them.",
        source="DeepSeek-AI 2024, §2.1.2",
        mistakes=("The norm between the two maps left out.",),
        check="parameter count; forward parity",
    ),
    "attention.norm_eps": Doc(
        "Latent attention: the eps of the latents' norms; by default the base norm's.",
        mistakes=("The block's eps where the code fixes 1e-6 whatever the config says.",),
        check="forward parity with latents near sqrt(eps)",
        elsewhere="Some configs have one eps and code that ignores it here: follow the code.",
    ),
    "attention.scale_multiplier": Doc(
        (
            "Latent attention: what 1 / sqrt(nope_head_dim + rope_head_dim) is multiplied by, "
            "m(factor, mscale_all_dim)^2 of a yarn scaling."
        ),
        source="DeepSeek-AI 2024, §2.1 and §3.1.4",
        mistakes=(
            "m in place of m^2, or left out: 1.5896 at factor 40 and mscale 0.707.",
            "1 / sqrt(nope_head_dim) alone.",
            "Tested with one key, where no scale matters.",
        ),
        check="forward parity with several keys; the mutant that drops it",
    ),
    "embedding.pad_id": Doc(
        "The token id that position index `ids` does not count.",
        mistakes=(
            "0 assumed where it is 1.",
            "Taken for a mask: it moves positions only, attention looks at what the mask says.",
        ),
        check="positions of inputs with padding ids before, between and after",
    ),
}
