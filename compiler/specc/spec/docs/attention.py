"""Documentation of attention: heads, widths, biases, scale, QK norm, cross-attention."""

from specc.spec.docs.doc import Doc

DOCS: dict[str, Doc] = {
    "attention": Doc(
        (
            "softmax(scale * q k^T + position bias, masked) v, head by head, then one output "
            "projection. Masks are boolean, True = may look."
        ),
        source="Vaswani et al. 2017, §3.2",
        mistakes=(
            (
                "The mask inverted: torch's SDPA reads True as look, nn.MultiheadAttention "
                "reads True as ignore."
            ),
            (
                "The upper triangle where the lower one is meant: every token then sees "
                "exactly its future."
            ),
            (
                "Adding two masks of the smallest float: they overflow to -inf, and a row of "
                "them is NaN."
            ),
            "Adding a position bias after the mask: masked cells come back to life.",
            "Multiplying weights by 0 and 1 after the softmax: rows no longer sum to one.",
        ),
        check=(
            "causality, padding left and right, fully masked rows finite, forward parity with "
            "golden"
        ),
        elsewhere=(
            "Components guides often show additive masks of -inf or -1e9. specc makes one "
            "boolean mask a forward, and no row of it is empty: -1e9 leaks in float16, and a "
            "row of -inf only is NaN."
        ),
    ),
    "attention.n_heads": Doc(
        "How many query heads there are.",
        source="Vaswani et al. 2017, §3.2.2",
        mistakes=(
            (
                "A reshape to [.., n_heads, head_dim] without the transpose after it: right "
                "shapes, mixed heads."
            ),
        ),
        check="forward parity with golden, which loops over heads",
        elsewhere=(
            "Guides assert that d_model is a multiple of n_heads. specc asks it only where "
            "head_dim is not given."
        ),
    ),
    "attention.n_kv_heads": Doc(
        (
            "How many key/value heads there are; by default one for each query head. 1 is "
            "multi-query, a divisor of n_heads grouped-query attention: query head h reads "
            "key/value head h // (n_heads / n_kv_heads)."
        ),
        source="Shazeer 2019 (multi-query); Ainslie et al. 2023 (grouped-query)",
        mistakes=(
            "Tiling the key/value heads [0, 1, 0, 1] where repeating them [0, 0, 1, 1] is meant.",
            (
                "Head size taken as rows / n_heads of a fused matrix that has n_heads + 2 * "
                "n_kv_heads of them."
            ),
        ),
        check="forward parity with 1 < n_kv_heads < n_heads; the mutant that tiles",
    ),
    "attention.head_dim": Doc(
        (
            "The width of one head; by default d_model / n_heads. Free: n_heads * head_dim "
            "need not equal d_model."
        ),
        mistakes=(
            (
                "Deriving it from d_model where the model gives it: projections, rotary "
                "tables and scale all come out wrong."
            ),
        ),
        check="forward parity with n_heads * head_dim != d_model; parameter count",
    ),
    "attention.bias": Doc(
        (
            "Which projections have a bias: true or false for all, or q, k, v and o apart. "
            "Latent attention: a (the maps down to latents) and o."
        ),
        mistakes=(
            "One switch for all four where the model has it on q, k and v only, or on all but k.",
            "Biases in the checkpoint that the model never reads.",
        ),
        check="parameter count; strict loading, where an unused bias is an error",
        elsewhere=(
            "torch's layers and most guides have all biases by default. Papers rarely say; "
            "specc's default is none, and --strict asks for an entry."
        ),
    ),
    "attention.bias.q": Doc(
        "A bias on the query projection.",
        check="parameter count; strict loading, where an unused bias is an error",
    ),
    "attention.bias.k": Doc(
        (
            "A bias on the key projection. It moves all scores of a query by the same amount, "
            "so it changes nothing but the parameter count; its true gradient is zero."
        ),
        mistakes=("Reading that zero gradient as a broken graph.",),
        check="parameter count; strict loading, where an unused bias is an error",
    ),
    "attention.bias.v": Doc(
        "A bias on the value projection.",
        check="parameter count; strict loading, where an unused bias is an error",
    ),
    "attention.bias.o": Doc(
        "A bias on the output projection.",
        mistakes=("Given with the others where the model has none here.",),
        check="parameter count; strict loading, where an unused bias is an error",
    ),
    "attention.projection": Doc(
        (
            "Whether the file computes q, k and v from three matrices or from one whose rows "
            "are all of q, then all of k, then all of v. How a checkpoint stores them is the "
            "importer's business."
        ),
        mistakes=(
            (
                "A flat split in three of a matrix whose rows are q, k, v head by head: right "
                "shapes, scrambled heads."
            ),
        ),
        check="forward parity with golden; logits against published weights",
    ),
    "attention.scale": Doc(
        (
            "What multiplies q k^T. inv_sqrt_head_dim: 1 / sqrt(head_dim). one: nothing. "
            "{inv_sqrt: n}: 1 / sqrt(n). Or a number."
        ),
        source="Vaswani et al. 2017, §3.2.1",
        mistakes=(
            (
                "1 / sqrt(d_model) in place of 1 / sqrt(head_dim): with 512 over 8 heads "
                "0.0442 in place of 0.125. The commonest mistake of all."
            ),
            "Scaling q first and letting the kernel scale again: 0.0156 in place of 0.125.",
            "Adding a position bias before the scale.",
        ),
        check="forward parity with several heads; the mutant that scales by sqrt(d_model)",
    ),
    "attention.scale.inv_sqrt": Doc(
        "n in 1 / sqrt(n), where it is not the head width.",
    ),
    "attention.qk_norm": Doc(
        (
            "A norm of q and k after their projections, before positions turn them unless "
            "`when` says otherwise. A partial one starts from the base norm."
        ),
        source="Henry et al. 2020; Dehghani et al. 2023 §2",
        mistakes=(
            "Norm after the turn: the two commute only without norm weights.",
            "The width of the wrong thing: see over.",
        ),
        check="forward parity with random norm weights",
    ),
    "attention.qk_norm.kind": Doc(
        (
            "rms or layer: as the block's norms. l2: divided by max(length, eps), so that "
            "scores are cosines."
        ),
        source="Henry et al. 2020 (l2)",
        mistakes=(
            (
                "l2 with the usual 1 / sqrt(head_dim): scores stay within 1 / sqrt(head_dim), "
                "attention stays uniform. Give it a temperature and `scale: one`."
            ),
            "eps added under the root where the length is clamped, or the other way round.",
        ),
        check="forward parity with activations near eps",
    ),
    "attention.qk_norm.over": Doc(
        (
            "head: each head's features apart, after the heads are split. full: all heads' "
            "features together, before. per_head: as head, each head with weights of its own."
        ),
        mistakes=(
            (
                "A weight as wide as all heads, applied after the split: a crash, or a "
                "broadcast that hides it."
            ),
            "One head's weights shared by all where each has its own.",
        ),
        check="parameter count; forward parity with n_heads > 1",
    ),
    "attention.qk_norm.eps": Doc(
        (
            "Added to the mean square (rms, layer) or the least length (l2). By default the "
            "base norm's; l2: 1e-12."
        ),
        mistakes=("The library's default in place of the paper's.",),
        check="forward parity with activations near sqrt(eps)",
    ),
    "attention.qk_norm.weight": Doc(
        "As norm.weight, for q and for k apart.",
        check="parameter count",
    ),
    "attention.qk_norm.bias": Doc(
        "As norm.bias, for q and for k apart.",
        check="parameter count",
    ),
    "attention.qk_norm.cast": Doc(
        "As norm.cast.",
        check="bfloat16 parity of the norm alone",
    ),
    "attention.qk_norm.temperature": Doc(
        (
            "per_head: q of head h is multiplied by exp(log_scale[h]), trained, "
            "sqrt(head_dim) at the start."
        ),
        source="Henry et al. 2020, §3",
        mistakes=(
            "One temperature for all heads, or one for each key/value head.",
            "The number itself trained in place of its logarithm: it can cross zero.",
        ),
        check="forward parity with random temperatures; init statistics",
    ),
    "cross_attention": Doc(
        (
            "Attention whose keys and values come from a memory: the encoder's output, or a "
            "set. Starts from `attention` and overrides it; has no positions. A row whose "
            "memory is all padding gives 0."
        ),
        source="Vaswani et al. 2017, §3.2.3",
        mistakes=(
            "The target's mask used for the memory.",
            "A causal mask over the memory.",
            "NaN where a memory is all padding.",
        ),
        check="padding of the memory; fully masked rows finite",
        elsewhere=(
            "Set-attention code often takes a mask that is True for padding. specc's masks "
            "are True for what is real."
        ),
    ),
}
