"""Documentation of the top level: identity, sizes, paper, layers and ledger."""

from specc.spec.docs.doc import Doc

DOCS: dict[str, Doc] = {
    "specc": Doc(
        "The version of the language; 1 is the only one.",
    ),
    "name": Doc(
        "The name of the model and, with .py, of its file: a lower-case Python identifier.",
        mistakes=(
            (
                "A Python keyword, a path, or the name of a module that the file itself "
                "imports: the file could not be imported, or would hide that module."
            ),
        ),
        check="refused while the spec is read",
    ),
    "title": Doc(
        "How the model is shown to readers, for instance in the file's docstring. Any text.",
    ),
    "class": Doc(
        "The name of the main class; without it, the CamelCase of `name`.",
        mistakes=("A digit first, or a name that the file defines itself, such as Config.",),
        check="refused while the spec is read",
    ),
    "kind": Doc(
        (
            "What goes in and how tokens see each other. decoder: tokens, each sees itself "
            "and what came before. encoder: tokens, all see all. encoder_decoder: a source "
            "that sees itself, and a target that sees its past and the source. features: "
            "vectors that look at a memory of vectors."
        ),
        source="Vaswani et al. 2017, §3.1; Lee et al. 2019 (sets)",
        mistakes=(
            (
                "Calling a stack of self-attention layers a decoder and leaving the causal "
                "mask to the caller: a bare call is then bidirectional, and the loss looks "
                "far too good."
            ),
            (
                "Dropping an all-true mask in an encoder, after which the kernel's causal "
                "flag decides."
            ),
        ),
        check=(
            "causality (a later token must not change an earlier output) and bidirectionality "
            "(here it must)"
        ),
    ),
    "paper": Doc(
        "The paper the spec follows; its title and number reach the generated file's docstring.",
    ),
    "paper.title": Doc(
        "The paper's title. Any text.",
    ),
    "paper.authors": Doc(
        "The paper's authors, as one text.",
    ),
    "paper.arxiv": Doc(
        "The paper's arXiv number.",
        mistakes=(
            "Without quotes YAML reads 1706.03762 as a number, and 2010.10 loses its last digit.",
        ),
        check="refused while the spec is read",
    ),
    "paper.url": Doc(
        "Where the paper stands, if it is not on arXiv.",
    ),
    "paper.year": Doc(
        "The year of the paper.",
    ),
    "paper.claims": Doc(
        "Numbers that the paper gives and that the built model must meet.",
    ),
    "paper.claims.parameters": Doc(
        "How many parameters the paper says the model has; 65e6 may be written.",
        mistakes=(
            (
                "Counting a tied output matrix twice, or the blocks only (85M is said of a "
                "model of 124M)."
            ),
            "Counting fixed sinusoid tables as parameters.",
        ),
        check=(
            "parameter count against the closed form and this claim; a gap of vocab_size * "
            "d_model names a lost tie"
        ),
    ),
    "paper.claims.tolerance": Doc(
        "How far the real count may lie from the claim, as a fraction: 4% or 0.04. Papers round.",
    ),
    "source": Doc(
        "Where trained weights of this model are to be had.",
    ),
    "source.huggingface": Doc(
        "The repository of the weights on the Hugging Face hub.",
    ),
    "source.layout": Doc(
        (
            "How the tensors of those weights are named and stored: one of the layouts that "
            "specc knows, such as qkv in one matrix, head by head. It says nothing about the "
            "model: the file computes the same whatever the layout."
        ),
        mistakes=(
            "Taking one family's order of fused rows for another's: shapes agree, numbers do not.",
        ),
        check="parity with the library that the weights come from; every pair of tensors swapped",
    ),
    "style": Doc(
        (
            "One line of words, as a reader of the paper would say them aloud, separated by "
            "commas. Each word sets a few fields; what stands below in the file overrides "
            "them."
        ),
        mistakes=(
            "Two words that set one field differently: specc refuses the pair and names both.",
        ),
        check="refused while the spec is read",
    ),
    "features": Doc(
        (
            "What the file can do beyond a forward pass. cache: keep keys and values between "
            "calls. generate: continue texts token by token, the likeliest ones or sampled by "
            "temperature, top-k and top-p, all at once or as a stream; it needs the cache. "
            "Decoders have both unless you say [] or [cache]. cpu_decode: steps of one token "
            "for up to four texts use all cores of a CPU, where a library leaves the product "
            "of a weight with a row to one; two to three times faster, with the same numbers. "
            "It costs the file a function and a subclass of nn.Linear, so you ask for it: "
            "[cache, generate, cpu_decode]."
        ),
        mistakes=(
            (
                "Using a kernel's causal flag with a cache: it aligns the mask top-left, so "
                "that a new token sees only the first key."
            ),
            "Counting positions from 0 again in every call.",
            "Padding on the right of a prompt: the next token would follow the padding.",
        ),
        check=(
            "cache equals full: one token at a time, in chunks, and with padding; generation "
            "equals a greedy loop over golden"
        ),
    ),
    "outputs": Doc(
        (
            "What forward can give beside the head's output. attention_weights: those of the "
            "layers a call asks for."
        ),
        mistakes=(
            (
                "Fused kernels do not return weights; switching the whole model to a slow "
                "path in order to have them changes numbers silently. specc computes them "
                "beside the kernel, for the layers asked for only."
            ),
        ),
        check="forward parity with golden, weights included",
    ),
    "vocab_size": Doc(
        "How many tokens there are: rows of the embedding and width of the logits.",
        mistakes=(
            "The tokenizer's count, where the matrix has rows added to fill a multiple of 64.",
            "A paper's rounded count.",
        ),
        check="parameter count against the claim; strict loading of published weights",
    ),
    "d_model": Doc(
        "The width of the residual stream.",
        source="Vaswani et al. 2017, §3.1",
        mistakes=("Assuming that heads times head width equals it: see attention.head_dim.",),
        check="golden runs with head widths that do not divide d_model",
    ),
    "n_layers": Doc(
        "How many layers a stack has. An encoder_decoder may give each stack its own.",
        mistakes=(
            "A list type in the code in place of a module list, so that layers are not trained.",
            "One layer object repeated, so that all layers share weights.",
        ),
        check="parameter count; every parameter receives a gradient",
    ),
    "max_seq_len": Doc(
        (
            "The most positions that tables hold. Not needed where no position needs a table "
            "(alibi, none)."
        ),
        mistakes=(
            (
                "For learned positions, forgetting that an offset adds rows: the longest "
                "input then has no row."
            ),
        ),
        check="forward parity at the full length; parameter count",
    ),
    "layers": Doc(
        (
            "Layer types and the pattern in which they follow each other. Without it all "
            "layers are alike."
        ),
    ),
    "layers.pattern": Doc(
        "The types in order, repeated to n_layers (which need not be a multiple).",
        mistakes=(
            (
                "Swapping local and global layers, or shifting the pattern by one: shorter "
                "inputs than the window show nothing."
            ),
        ),
        check="forward parity with inputs longer than any window",
    ),
    "layers.types": Doc(
        (
            "Each type's overrides of the base parts. Mappings merge, a changed kind replaces "
            "the node, lists replace, null removes."
        ),
        mistakes=("Overriding `kind` and expecting the rest of the old node to stay.",),
        check="`specc explain SPEC` shows what each type came to",
    ),
    "encoder": Doc(
        "What the encoder of an encoder_decoder overrides: parts, n_layers, layers, final_norm.",
    ),
    "decoder": Doc(
        "What the decoder of an encoder_decoder overrides: parts, n_layers, layers, final_norm.",
    ),
    "ledger": Doc(
        (
            "Where each choice comes from. Keys are paths of fields; an entry covers all "
            "below its path. It assigns nothing: a `choice` must equal what the spec says."
        ),
        mistakes=(
            (
                "Filling a paper's silence with a habit and not saying so: eps, "
                "initialisation, biases and the order of norm and residual are the usual "
                "places."
            ),
            (
                "Trusting a figure or a docstring over the code: many papers draw post-norm "
                "and train pre-norm."
            ),
        ),
        check="`specc check --strict` names each architectural value without an entry",
    ),
    "ledger.status": Doc(
        (
            "stated: the paper says it. figure: only a figure shows it. official_code: the "
            "authors' code does it. unstated: the paper is silent, and this is a choice. "
            "deviates: the spec does otherwise on purpose."
        ),
    ),
    "ledger.at": Doc(
        "The section, figure or file that says it. It reaches the generated code as a comment.",
    ),
    "ledger.quote": Doc(
        "The words themselves. Any text, kept as text.",
    ),
    "ledger.choice": Doc(
        "The value that the entry speaks of. It must equal what the spec says.",
        check="refused while the spec is read",
    ),
    "ledger.because": Doc(
        "Why this choice, where the paper is silent or the spec deviates.",
    ),
    "ledger.alternatives": Doc(
        "What else would have been reasonable.",
    ),
}
