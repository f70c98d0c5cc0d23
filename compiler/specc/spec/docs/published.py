"""Documentation of what published models vary in blocks, embeddings, heads and patterns."""

from specc.spec.docs.doc import Doc

DOCS: dict[str, Doc] = {
    "block.skip_norms": Doc(
        (
            "Sublayers whose norm slots stay empty, in a layer type whose stream is normed "
            "already (the first layer after an embedding norm, say)."
        ),
        source="Warner et al. 2024",
        mistakes=("A norm in layer 0 as in all others: one weight too many, other logits.",),
        check="parameter count; strict state_dict; forward parity",
    ),
    "block.residual": Doc(
        "raw: a sublayer adds to x. normed: it adds to pre(x), the input that it reads.",
        mistakes=(
            "apply_residual_connection_post_layernorm read and ignored.",
            "Pre-norm code that keeps the normed x as the stream by accident.",
        ),
        check="forward parity with random norm weights; the mutant that swaps the two",
    ),
    "block.residual_multiplier": Doc(
        "A number that multiplies what every sublayer adds to the stream.",
        source="Granite 3 (0.22); MiniCPM (scale_depth / sqrt(n_layers))",
        mistakes=("Multiplying the stream instead.", "In attention only, not the feed-forward."),
        check="forward parity",
    ),
    "block.layer_scale": Doc(
        "A learned gain for each feature of what a sublayer adds. The number is where it starts.",
        source="Touvron et al. 2021",
        mistakes=("The start value taken for a fixed factor: nothing to load the weight into.",),
        check="strict state_dict; forward parity with random gains; init statistics",
    ),
    "embedding.width": Doc(
        "The width of the token table, when it is not d_model: a map takes it there.",
        source="Lan et al. 2020; OPT-350m (512 to 1024)",
        mistakes=("Positions added on the wrong side of the map: see embedding.project.at.",),
        check="parameter count; forward parity",
    ),
    "embedding.project": Doc("The map from a narrower embedding to d_model."),
    "embedding.project.at": Doc(
        (
            "before_position: positions and types have width d_model. before_norm: they are as "
            "narrow as the embedding. after_norm: the norm is as narrow too."
        ),
        mistakes=("One model's order taken for another's: shapes may agree, numbers do not.",),
        check="parameter count; forward parity",
    ),
    "embedding.project.bias": Doc(
        "Whether the map has a bias.",
        mistakes=("A bias where the checkpoint has none.",),
        check="strict state_dict",
    ),
    "embedding.padded_vocab_size": Doc(
        (
            "Rows of the token table and of the head when the checkpoint has more than there are "
            "tokens. Logits are cut to vocab_size, so that no padding row can be sampled."
        ),
        mistakes=(
            "Padding rows sampled: their logits are whatever training left there.",
            "A mask made for the tokenizer's count on wider logits.",
        ),
        check="parameter count; shapes of the logits",
    ),
    "head.in_multiplier": Doc(
        "A number that multiplies the features before the output matrix.",
        source="MiniCPM (256 / d_model); T5 (d_model^-0.5 when tied)",
        mistakes=("After the final norm is meant: before it, the norm takes the factor out.",),
        check="forward parity",
    ),
    "head.out_multiplier": Doc(
        "A number that multiplies the logits, before a softcap.",
        source="Command R (logit_scale); Granite 3 (1 / logits_scaling)",
        mistakes=(
            "Divided where the config's number is a factor, or the other way round.",
            "Softcap before the factor.",
        ),
        check="forward parity with a factor that is not 1",
    ),
    "head.softcap": Doc(
        "Logits become cap * tanh(logits / cap), so that none exceeds the cap.",
        source="Gemma Team 2024",
        mistakes=(
            "x * tanh(x / cap), which bounds nothing.",
            "The attention's cap read for the head's, or one of the two left out.",
        ),
        check="forward parity; the bound itself",
    ),
    "layers.override": Doc(
        (
            "Single layers of another type than the pattern says: a list of {at: index, "
            "type: name}, counted from 0."
        ),
        mistakes=("Counting from 1.",),
        check="strict state_dict; forward parity with all layer types present",
    ),
    "layers.override.at": Doc("Which layer, counted from 0."),
    "layers.override.type": Doc("The layer type that it is."),
}
