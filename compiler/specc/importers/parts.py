"""What many configs say in the same words: sizes, norms, blocks, attention, feed-forward, heads.

Each function reads its keys, names included, and puts the fields of one part. What differs between
families comes in as arguments; nothing here knows one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from specc.diagnostics import listed
from specc.importers.config import Cited, Config
from specc.importers.document import shown
from specc.importers.draft import Axis, Draft, Part

ACTIVATIONS = {
    "gelu": "gelu_erf",
    "gelu_python": "gelu_erf",
    "gelu_new": "gelu_tanh",
    "gelu_fast": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "relu": "relu",
    "relu2": "relu_squared",
    "silu": "silu",
    "swish": "silu",
}
_ONE_STD = "every matrix starts normal with that deviation, every bias at zero"


def sizes(
    config: Config,
    draft: Draft,
    d_model: str = "hidden_size",
    n_layers: str = "num_hidden_layers",
    max_seq_len: str | None = "max_position_embeddings",
) -> int:
    """The kind and the sizes of a decoder; returns the number of layers."""
    draft.put("kind", config.code("decoder", "every token sees itself and those before it"))
    draft.put("vocab_size", config.count("vocab_size"))
    draft.put("d_model", config.count(d_model))
    layers = config.count(n_layers)
    draft.put("n_layers", layers)
    if max_seq_len is not None:
        draft.put("max_seq_len", config.count(max_seq_len))
    draft.put("embedding.scale", config.code("one", "token rows enter the stack as they are"))
    return layers.value


def rms_norm(
    config: Config,
    draft: Draft,
    key: str = "rms_norm_eps",
    default: float = 1e-6,
    cast: str = "before_weight",
    weight: str = "w",
) -> None:
    """RMS norms everywhere."""
    casts = {
        "before_weight": "normed in float32, cast back, then multiplied by the weight",
        "after_weight": "normed and multiplied by the weight in float32, then cast back",
    }
    weights = {"w": "one gain a feature, which starts at one", "one_plus_w": "the gain is 1 + w"}
    draft.put("norm.kind", config.code("rms", "no mean is taken and no shift added"))
    draft.put("norm.eps", config.number(key, default))
    draft.put("norm.weight", config.code(weight, weights[weight]))
    draft.put("norm.cast", config.code(cast, casts[cast]))


def layer_norm(
    config: Config,
    draft: Draft,
    eps: Cited[float],
    bias: bool = True,
    weight: str = "w",
) -> None:
    """Layer norms everywhere."""
    weights = {
        "w": "one gain a feature",
        "one_plus_w": "the gain is 1 + w",
        "none": "the norm has no weights at all",
    }
    draft.put("norm.kind", config.code("layer", "mean and variance over the features"))
    draft.put("norm.eps", eps)
    draft.put("norm.weight", config.code(weight, weights[weight]))
    if weight != "none":
        draft.put("norm.bias", config.code(bias, "with a shift" if bias else "without a shift"))
    draft.put("norm.cast", config.code("native", "as torch's layer norm"))


_PLACEMENTS = {
    "pre": "a sublayer reads a normed copy of the stream",
    "post": "the sum of the stream and a sublayer is normed",
    "sandwich": "a norm before and another after each sublayer",
    "post_sublayer": "what a sublayer adds is normed, what it reads is not",
}


Wiring = Literal["sequential", "parallel"]


def wiring(is_parallel: bool) -> Wiring:
    """The word for it."""
    return "parallel" if is_parallel else "sequential"


def block(
    config: Config,
    draft: Draft,
    placement: str = "pre",
    wiring: Wiring = "sequential",
    *,
    shared_norm: bool = False,
    said: Cited[bool] | None = None,
) -> None:
    """Where norms stand and whether sublayers follow each other. `said`: the key that decides."""
    draft.put("block.norm_placement", config.code(placement, _PLACEMENTS[placement]))
    reasons = {
        "sequential": "the feed-forward reads what attention left",
        "parallel": "attention and feed-forward read the same stream",
    }
    way = config.code(wiring, reasons[wiring])
    draft.put("block.wiring", way if said is None else Cited(wiring, said.at, said.because))
    if shared_norm:
        draft.put("block.shared_norm", config.code(True, "both sublayers read one norm"))
    final = placement != "post"
    because = "one more norm after the last layer" if final else "no norm after the last layer"
    draft.put("final_norm", config.code(final, because))


def heads(
    config: Config,
    draft: Draft,
    n_heads: str = "num_attention_heads",
    *,
    n_kv_heads: int | None = None,
    head_dim: int | None = None,
) -> None:
    """How many heads of queries and of keys, and how wide. The numbers are the library's defaults
    for keys that a config leaves out; null means as many as queries, and a share of the width.
    """
    draft.put("attention.n_heads", config.count(n_heads))
    kv_heads = config.optional_count("num_key_value_heads", n_kv_heads)
    draft.put("attention.n_kv_heads", kv_heads)
    draft.put("attention.head_dim", config.optional_count("head_dim", head_dim))


def biases(said: Cited[bool], which: str = "qkvo") -> Cited[dict[str, bool]]:
    """The attention projections with a bias, if `said`."""
    return Cited({k: said.value and k in which for k in "qkvo"}, said.at, said.because)


def attention(config: Config, draft: Draft, bias: Cited[dict[str, bool]] | None = None) -> None:
    """Biases and scale of attention; without `bias`, as the key attention_bias says."""
    if bias is None:
        bias = biases(config.flag("attention_bias", False))
    draft.put("attention.bias", bias)
    because = "scores are divided by the root of the head's width"
    draft.put("attention.scale", config.code("inv_sqrt_head_dim", because))


def head_norms(config: Config, draft: Draft) -> None:
    """Queries and keys normed as features are, head by head."""
    draft.put("attention.qk_norm.kind", config.code("rms", "queries and keys are normed"))
    draft.put("attention.qk_norm.over", config.code("head", "head by head, with one gain for all"))


def norms_by_head(config: Config, draft: Draft, said: Cited[bool]) -> None:
    """Queries and keys through layer norms with gains of their own for each head."""
    draft.put("attention.qk_norm.kind", said.but("layer"))
    draft.put("attention.qk_norm.over", config.code("per_head", "each head has gains of its own"))
    draft.put("attention.qk_norm.bias", config.code(False, "without a shift"))


def no_bias(config: Config) -> Cited[bool]:
    """Linear maps are made without bias."""
    return config.code(False, "every linear map is made without a bias")


def some_bias(config: Config) -> Cited[bool]:
    """Linear maps are made with a bias."""
    return config.code(True, "every linear map is made with a bias")


def gated(
    config: Config,
    draft: Draft,
    bias: Cited[bool],
    activation: str = "hidden_act",
    d_ff: str = "intermediate_size",
    default: str = "silu",
) -> None:
    """A gated feed-forward in every layer."""
    draft.put_all(gated_part(config, bias, activation, d_ff, default), "feed_forward.")


def gated_part(
    config: Config,
    bias: Cited[bool],
    activation: str = "hidden_act",
    d_ff: str = "intermediate_size",
    default: str = "silu",
) -> Part:
    """The fields of a gated feed-forward."""
    return {
        "kind": config.code("glu", "one map gates another"),
        "activation": config.word(activation, ACTIVATIONS, default, "activation"),
        "d_ff": config.count(d_ff),
        "bias": bias,
    }


def plain(
    config: Config,
    draft: Draft,
    bias: Cited[bool],
    activation: Cited[str],
    d_ff: Cited[int],
) -> None:
    """Two maps with an activation between."""
    draft.put("feed_forward.kind", config.code("mlp", "two maps with an activation between"))
    draft.put("feed_forward.activation", activation)
    draft.put("feed_forward.d_ff", d_ff)
    draft.put("feed_forward.bias", bias)


def four_times(config: Config, key: str, d_model: str) -> Cited[int]:
    """The hidden width, by default four times the model's."""
    said = config.optional_count(key)
    if said is not None:
        return said
    return times(config, 4, d_model)


def factor(config: Config, draft: Draft, path: str, key: str, said: Cited[float]) -> None:
    """A number that multiplies; 1 is left out, and its key told as one that changes nothing."""
    if said.value == 1:
        config.ignore({key: "a factor of 1 changes nothing"})
    else:
        draft.put(path, said)


def times(config: Config, how_often: int, d_model: str) -> Cited[int]:
    """A hidden width that the library derives from the model's."""
    width = config.count(d_model)
    return width.but(how_often * width.value, f"the library takes {how_often} times the width")


def language_model(
    config: Config, draft: Draft, tied: bool, bias: Cited[bool] | None = None
) -> None:
    """Logits over the vocabulary; `tied` is the library's default."""
    config.architectures(("ForCausalLM", "LMHeadModel"), "a language model")
    draft.put("head.kind", config.code("language_model", "logits of the next token"))
    draft.put("head.tied", config.flag("tie_word_embeddings", tied))
    draft.put("head.bias", bias or config.code(False, "the output matrix has no bias"))


def dropouts(draft: Draft, residual: Cited[float] | None = None, **sites: Cited[float]) -> None:
    """The probabilities at the sites that the config speaks of; `residual`: of what every sublayer
    adds.
    """
    added = {} if residual is None else dict.fromkeys(("attention_out", "ff_out"), residual)
    for site, cited in (sites | added).items():
        draft.put(f"dropout.{site}", cited)


def init(
    config: Config, draft: Draft, key: str = "initializer_range", default: float = 0.02
) -> None:
    """How weights start: all matrices alike."""
    draft.put("init.kind", config.code("normal", _ONE_STD))
    draft.put("init.std", config.number(key, default))
    draft.put("init.outputs", config.code("same", "output maps start as all others"))


def windowed(
    config: Config,
    n_layers: int,
    default: Callable[[int], bool],
    why: str,
    local: Part,
    everywhere: Part,
) -> Axis:
    """Layers that look through a window and layers that see all: as layer_types says, else where
    `default` is true of the layer's index; `why` says that in words.
    """
    words = {"sliding_attention": "local", "full_attention": "global"}
    names = ["sliding_attention" if default(i) else "full_attention" for i in range(n_layers)]
    return by_word(config, "layer_types", words, names, why, {"local": local, "global": everywhere})


def by_word(
    config: Config,
    key: str,
    words: Mapping[str, str],
    default: Sequence[str],
    why: str,
    layer_parts: Mapping[str, Part],
) -> Axis:
    """What a list of words, one a layer, says; `words` turns the library's into ours."""
    said = config.words(key)
    if said is None:
        because = f"the config leaves out {key}: {why}"
        said = Cited(list(default), f"configuration_{config.module}.py", because)
    elif len(said.value) != len(default) and not config.log.problems:
        message = f"{key} speaks of {len(said.value)} layers, and there are {len(default)}"
        config.refuse(key, message)
    for word in dict.fromkeys(said.value):
        if word not in words:
            hint = f"known: {listed(words, 'and')}"
            config.refuse(key, f"layers of type {shown(word)} are not in the vocabulary", hint)
    names = tuple(words.get(word, word) for word in said.value)
    return Axis(names, said.at, layer_parts, said.because)


def dense_or_experts(is_dense: Cited[list[bool]], dense: Part, experts: Part) -> Axis:
    """Layers with one feed-forward, and layers with a choice of many."""
    names = tuple("dense" if each else "moe" for each in is_dense.value)
    return Axis(
        names,
        is_dense.at,
        {"dense": below("feed_forward", dense), "moe": below("feed_forward", experts)},
        is_dense.because,
    )


def below(path: str, part: Part) -> Part:
    """The fields of a part, by their paths from further up."""
    return {f"{path}.{key}": cited for key, cited in part.items()}
