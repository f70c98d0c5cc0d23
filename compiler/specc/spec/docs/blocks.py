"""Documentation of blocks: norms and where they stand, the feed-forward, embeddings."""

from specc.spec.docs.doc import Doc

DOCS: dict[str, Doc] = {
    "norm": Doc(
        (
            "The norm of every slot of a block, and what partial norms elsewhere start from. "
            "A word, or a mapping."
        ),
        mistakes=(
            "A norm somewhere that keeps the library's eps while the others have the paper's.",
        ),
        check="forward parity in a second regime, with activations near sqrt(eps)",
    ),
    "norm.kind": Doc(
        "layer: (x - mean) / sqrt(var + eps). rms: x / sqrt(mean(x^2) + eps), no centring.",
        source="Ba et al. 2016; Zhang & Sennrich 2019",
        mistakes=("The unbiased variance (n - 1) in a layer norm written by hand.",),
        check="forward parity with features whose mean is not 0",
    ),
    "norm.eps": Doc(
        "What is added under the root.",
        mistakes=(
            (
                "The framework's default (1e-5, or the dtype's smallest step) in place of the "
                "paper's 1e-6 or 1e-12: default weights and inputs of size 1 hide it."
            ),
            "eps outside the root.",
            "The config's eps in one norm, the default in the rest.",
        ),
        check="the regime with activations near sqrt(eps), where 1e-12 and 1e-6 differ plainly",
    ),
    "norm.weight": Doc(
        (
            "w: multiplied by w, which starts at 1. one_plus_w: by 1 + w, w starts at 0. "
            "none: nothing trained."
        ),
        mistakes=(
            "1 + w with w starting at 1: the gain begins at 2.",
            "Weights stored as s loaded as 1 + s, without taking 1 off: gibberish.",
        ),
        check="forward parity with random weights; init statistics (the output has size 1)",
    ),
    "norm.bias": Doc(
        "The shift of a layer norm; true unless it has no weight. An rms norm has none.",
        mistakes=("nn.LayerNorm(bias=False) forgotten where the model has weights only.",),
        check="parameter count",
    ),
    "norm.cast": Doc(
        (
            "Norms compute in at least float32. before_weight: back to the input's dtype, "
            "then multiplied by the weight. after_weight: multiplied first. native: torch's "
            "own order (layer norm)."
        ),
        mistakes=(
            "The other order: equal in float32, 27% of elements differ in bfloat16.",
            "The square taken in bfloat16.",
        ),
        check="bfloat16 parity of the norms alone; cast order shows nowhere else",
    ),
    "block": Doc(
        "How the sublayers of a layer are wired: where norms stand, what is added to what.",
    ),
    "block.norm_placement": Doc(
        (
            "pre: x + f(norm(x)). post: norm(x + f(x)). sandwich: x + norm(f(norm(x))). "
            "post_sublayer: x + norm(f(x)). No default: say it."
        ),
        source=(
            "Vaswani et al. 2017 §3.1 (post); Xiong et al. 2020 (pre); Ding et al. 2021 "
            "(sandwich)"
        ),
        mistakes=(
            (
                "The figure shows post-norm and the code trains pre-norm: check the code, and "
                "write both into the ledger."
            ),
            "A docstring that says add & norm above code that norms first.",
            "In pre-norm, adding the normed x in place of x.",
            "In pre-norm, no final norm: see final_norm.",
        ),
        check="forward parity with random norm weights; the mutant that moves the norm",
        elsewhere=(
            "The tiny language model that specc was seeded with says add & norm and is "
            "pre-norm: its spec's ledger says so."
        ),
    ),
    "block.wiring": Doc(
        (
            "sequential: each sublayer reads what the one before it left. parallel: all read "
            "the same x, one sum adds them."
        ),
        source="Wang & Komatsuzaki 2021",
        mistakes=("The flag ignored: the second sublayer reads the first's result.",),
        check="forward parity with random norm weights",
    ),
    "block.shared_norm": Doc(
        "Parallel only: both sublayers read one norm's output, where they would have a norm each.",
        mistakes=("Two norms where the model has one, or the two crossed.",),
        check="parameter count; forward parity with random norm weights",
    ),
    "block.sublayers": Doc(
        (
            "What a block consists of, in order. By default self-attention and feed-forward, "
            "in the decoder of an encoder_decoder with cross-attention between, over features "
            "cross-attention and feed-forward."
        ),
        mistakes=("Cross-attention before self-attention.",),
        check="forward parity with golden, first differing part named",
    ),
    "feed_forward": Doc(
        "The position-wise part: two or three linear maps with a non-linearity between.",
        source="Vaswani et al. 2017, §3.3",
    ),
    "feed_forward.kind": Doc(
        (
            "mlp: down(act(up(x))). glu: down(act(gate(x)) * up(x)), three matrices. experts: "
            "many glus, of which a router chooses a few for each token."
        ),
        source="Shazeer 2020 (glu); Shazeer et al. 2017 (experts)",
        mistakes=(
            "silu(up) * gate: the activation belongs to the gate. The shapes are the same.",
            (
                "d_ff of an mlp kept for a glu: half as many parameters again. 2/3 of it "
                "keeps the count."
            ),
            "A fused gate/up matrix split in the other order.",
        ),
        check="forward parity; parameter count",
    ),
    "feed_forward.activation": Doc(
        (
            "The non-linearity. There is no bare gelu: gelu_erf is exact, gelu_tanh the "
            "approximation."
        ),
        source="Hendrycks & Gimpel 2016 (gelu); So et al. 2021 (relu_squared)",
        mistakes=(
            (
                "Exact gelu where the weights want tanh, or the reverse: they differ by up to "
                "4.7e-4, near x = 2.7."
            ),
            "The tanh form without its leading x.",
            "The activation applied after the second matrix.",
        ),
        check="float32 parity at 1e-5 and float64 at 1e-12, far under that difference",
    ),
    "feed_forward.d_ff": Doc(
        "The width between the maps; of one expert. Arithmetic may stand here: 4 * d_model.",
        mistakes=(
            "The width of a dense layer kept for one expert, which is narrower as a rule.",
            "For a glu, the paper's 2/3 * 4 * d_model not rounded as the authors rounded it.",
        ),
        check="parameter count",
    ),
    "feed_forward.bias": Doc(
        "Which maps have a bias: true or false for all, or up (and gate) and down apart.",
        mistakes=("nn.Linear's default bias where the model has none.",),
        check="parameter count",
    ),
    "feed_forward.bias.up": Doc(
        "A bias on the map into d_ff, and on the gate.",
        check="parameter count",
    ),
    "feed_forward.bias.down": Doc(
        "A bias on the map back to d_model.",
        check="parameter count",
    ),
    "final_norm": Doc(
        (
            "A norm after the last layer: true, false, or a norm that starts from the base "
            "norm. By default there is one unless the blocks are post-norm."
        ),
        source="Xiong et al. 2020",
        mistakes=(
            "Left out of a pre-norm stack: the head reads sums of unnormed branches.",
            "Added to a post-norm stack, as torch.nn.Transformer does and the paper does not.",
        ),
        check="parameter count; forward parity",
        elsewhere=(
            "torch.nn.TransformerEncoder has no final norm even with norm_first=True, unless "
            "one is passed. specc's default differs: write `final_norm: false` to follow it."
        ),
    ),
    "embedding": Doc(
        "dropout(norm(scale * token + type + position)): what the first layer reads.",
        source="Vaswani et al. 2017, §3.4",
    ),
    "embedding.scale": Doc(
        (
            "What token embeddings are multiplied by before positions are added: one, "
            "sqrt_d_model, or a number."
        ),
        source="Vaswani et al. 2017, §3.4",
        mistakes=(
            "Forgotten: positions drown the tokens.",
            "Applied twice, by the embedding and by its caller: 51 times too large.",
            "Applied to the sum with the positions.",
        ),
        check="forward parity; the mutant that drops the scale",
        elsewhere=(
            "Guides make the scale an on/off argument, on by default. specc's default is one."
        ),
    ),
    "embedding.norm": Doc(
        "A norm of the summed embeddings: true for the base norm, or a norm that starts from it.",
        mistakes=("Its eps kept at the default while the blocks' is set.",),
        check="parameter count; forward parity near sqrt(eps)",
    ),
    "embedding.types": Doc(
        (
            "How many token types (segments) there are; each adds a trained vector. Without a "
            "value there are none."
        ),
        source="Devlin et al. 2019, §3",
        mistakes=("Left out when types are all 0: the vector of type 0 is still added.",),
        check="parameter count; forward parity with types that differ",
    ),
    "embedding.shared": Doc(
        "encoder_decoder: source and target read one table.",
        source="Vaswani et al. 2017, §3.4; Press & Wolf 2017",
        mistakes=("Copied at the start in place of shared: the two drift apart in training.",),
        check="ties survive to(), deepcopy, save and load; parameter count",
    ),
}
