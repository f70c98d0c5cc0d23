"""Documentation of heads, dropout and initialisation."""

from specc.spec.docs.doc import Doc

DOCS: dict[str, Doc] = {
    "head": Doc(
        (
            "What the model makes of its last features: a word, a mapping with a kind, or a "
            "list of several. Each gives one named output."
        ),
    ),
    "head.kind": Doc(
        (
            "language_model: logits over the vocabulary. masked_language_model: the same "
            "behind dense, activation and norm. classifier: logits over classes from pooled "
            "features. features: the features themselves."
        ),
        source="Devlin et al. 2019, §3.1 (masked language model)",
    ),
    "head.tied": Doc(
        "The output matrix is the token embedding itself, one parameter used twice.",
        source="Press & Wolf 2017",
        mistakes=(
            (
                "Papers tie without saying so: a count that is vocab_size * d_model too high "
                "is the sign."
            ),
            (
                "Tied by copying, or untied by to_empty() on the meta device: two tensors "
                "that start equal."
            ),
            "Saved under one name, looked for under the other, and left random.",
        ),
        check=(
            "parameter count with the hint; ties survive to(), deepcopy, save, load and "
            "to_empty()"
        ),
    ),
    "head.bias": Doc(
        "A bias on the output matrix: by default false for language_model, true for the others.",
        mistakes=(
            "A bias that belongs to the tied matrix forgotten, because the embedding has none.",
        ),
        check="parameter count",
    ),
    "head.activation": Doc(
        "masked_language_model: the non-linearity after its dense map.",
        mistakes=("gelu_tanh where the weights want gelu_erf.",),
        check="forward parity",
    ),
    "head.norm": Doc(
        "masked_language_model: the norm after the activation; by default the base norm.",
        mistakes=("Its eps: many models have another one here.",),
        check="forward parity near sqrt(eps)",
    ),
    "head.name": Doc(
        "classifier: the name of its output; class_logits by default.",
    ),
    "head.pool": Doc(
        (
            "Which features a classifier reads. first: the first column's. mean: the mean "
            "over real tokens."
        ),
        source="Devlin et al. 2019, §3",
        mistakes=(
            "The mean over padding too.",
            "The first column under left padding: it is a pad. Pad such a model on the right.",
        ),
        check="padding right (first) or both (mean)",
    ),
    "head.pooler": Doc(
        "classifier: tanh puts a dense map and tanh between pooling and classes.",
        mistakes=("Left out, as it hides behind the name of the encoder.",),
        check="parameter count (d_model * (d_model + 1))",
    ),
    "head.n_classes": Doc(
        "classifier: how many classes there are.",
    ),
    "dropout": Doc(
        (
            "The probability that a value is dropped in training: one number for all five "
            "places, or each apart."
        ),
        source="Srivastava et al. 2014; Vaswani et al. 2017 §5.4",
        mistakes=(
            (
                "The kernel's dropout given outside training as well: it has no training flag "
                "of its own."
            ),
            "One place more than the paper has, or one less.",
        ),
        check=(
            "eval is deterministic, dropout is live in training only; golden with p = 1 at "
            "this site proves the place"
        ),
    ),
    "dropout.embedding": Doc(
        "On the sum of the embeddings, after their norm.",
        mistakes=("On the positions alone.",),
        check=(
            "eval is deterministic, dropout is live in training only; golden with p = 1 at "
            "this site proves the place"
        ),
    ),
    "dropout.attention": Doc(
        "On the attention weights, after the softmax.",
        mistakes=("SDPA applies dropout_p in eval too: pass 0 there.",),
        check=(
            "eval is deterministic, dropout is live in training only; golden with p = 1 at "
            "this site proves the place"
        ),
    ),
    "dropout.attention_out": Doc(
        "On what attention's output projection gives, before it is added.",
        mistakes=("After the addition: the residual stream itself is dropped.",),
        check=(
            "eval is deterministic, dropout is live in training only; golden with p = 1 at "
            "this site proves the place"
        ),
    ),
    "dropout.ff_hidden": Doc(
        "On the hidden features, after the activation.",
        check=(
            "eval is deterministic, dropout is live in training only; golden with p = 1 at "
            "this site proves the place"
        ),
    ),
    "dropout.ff_out": Doc(
        "On what the feed-forward gives, before it is added.",
        check=(
            "eval is deterministic, dropout is live in training only; golden with p = 1 at "
            "this site proves the place"
        ),
    ),
    "init": Doc(
        (
            "How weights begin, as data: a word, or a mapping. Norm gains begin at 1 (or 0 "
            "for one_plus_w), biases at 0."
        ),
        mistakes=(
            (
                "Weights made by torch's defaults, and the scheme applied to half of them by "
                "a name that never matches."
            ),
        ),
        check="init statistics of every tensor against the rule",
    ),
    "init.kind": Doc(
        (
            "normal: N(0, std^2) for every matrix. xavier_uniform: U(-a, a), a = sqrt(6 / (in "
            "+ out)). torch: what nn.Linear and nn.Embedding do by themselves."
        ),
        source="Glorot & Bengio 2010 (xavier)",
        mistakes=(
            (
                "torch's nn.Embedding begins at N(0, 1): with a tied head the first loss is "
                "far above ln(vocab_size)."
            ),
            "xavier applied to a fused q/k/v matrix as one: its fan is not that of its parts.",
        ),
        check="init statistics",
    ),
    "init.std": Doc(
        "The standard deviation: of every matrix (normal), else of the embeddings only.",
        source="Radford et al. 2019 (0.02)",
        check="init statistics",
    ),
    "init.outputs": Doc(
        (
            "How the maps that end a branch (o_proj, down_proj) begin. same: as all. "
            "depth_scaled: divided by sqrt(2 * n_layers). zero: at 0, so that every block "
            "begins as the identity."
        ),
        source="Radford et al. 2019, §2.3",
        mistakes=(
            "Left out: for 12 layers 0.02 in place of 0.00408.",
            "sqrt(n_layers) where each layer has two branches.",
            "zero, and a gradient check that expects all gradients at the first step.",
        ),
        check="init statistics",
    ),
}
