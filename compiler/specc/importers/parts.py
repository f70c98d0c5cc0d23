"""What many configs say in the same words: sizes, norms, blocks, attention, feed-forward, heads.

Each function reads its keys, names included, and puts the fields of one part. What differs between
families comes in as arguments; nothing here knows one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from specc.importers.config import Cited, Config
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


def block(
    config: Config,
    draft: Draft,
    placement: str = "pre",
    wiring: Literal["sequential", "parallel"] = "sequential",
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
    n_kv_heads: str | None = "num_key_value_heads",
    head_dim: str | None = "head_dim",
) -> None:
    """How many heads of queries and of keys, and how wide."""
    draft.put("attention.n_heads", config.count(n_heads))
    if n_kv_heads is not None:
        draft.put("attention.n_kv_heads", config.optional_count(n_kv_heads))
    if head_dim is not None:
        draft.put("attention.head_dim", config.optional_count(head_dim))


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
    because = f"{key} is left to the library: four times the width"
    return Cited(4 * config.count(d_model).value, f"modeling_{config.module}.py", because)


def language_model(
    config: Config, draft: Draft, tied: bool, bias: Cited[bool] | None = None
) -> None:
    """Logits over the vocabulary; `tied` is the library's default."""
    config.architectures(("ForCausalLM", "LMHeadModel"), "a language model")
    draft.put("head.kind", config.code("language_model", "logits of the next token"))
    draft.put("head.tied", config.flag("tie_word_embeddings", tied))
    draft.put("head.bias", bias or config.code(False, "the output matrix has no bias"))


def dropouts(draft: Draft, **sites: Cited[float]) -> None:
    """The probabilities at the sites that the config speaks of."""
    for site, cited in sites.items():
        draft.put(f"dropout.{site}", cited)


def init(
    config: Config, draft: Draft, key: str = "initializer_range", default: float = 0.02
) -> None:
    """How weights start: all matrices alike."""
    draft.put("init.kind", config.code("normal", _ONE_STD))
    draft.put("init.std", config.number(key, default))
    draft.put("init.outputs", config.code("same", "output maps start as all others"))


def by_window(
    config: Config,
    names: Cited[list[str]],
    local: Part,
    everywhere: Part,
) -> Axis:
    """Layers that look through a window and layers that do not, from the library's words."""
    words = {"sliding_attention": "local", "full_attention": "global"}
    said = layer_words(config, names, words)
    return Axis(said, names.at, {"local": local, "global": everywhere}, names.because)


def layer_words(config: Config, names: Cited[list[str]], words: dict[str, str]) -> tuple[str, ...]:
    """The library's words for layers as ours; one it does not know is refused."""
    for name in dict.fromkeys(names.value):
        if name not in words:
            config.refuse("layer_types", f"layers of type '{name}' are not in the vocabulary")
    return tuple(words.get(name, name) for name in names.value)


def per_layer(
    config: Config, key: str, said: Cited[list[str]] | None, default: Sequence[str], why: str
) -> Cited[list[str]]:
    """One word a layer: as the key says, else the library's default."""
    if said is None:
        because = f"the config leaves out {key}: {why}"
        return Cited(list(default), f"configuration_{config.module}.py", because)
    if len(said.value) != len(default) and not config.log.problems:
        message = f"{key} speaks of {len(said.value)} layers, and there are {len(default)}"
        config.refuse(key, message)
    return said
