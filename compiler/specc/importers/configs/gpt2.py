"""GPT-2: learned positions, one matrix for q, k and v, sizes called n_embd, n_layer and n_head."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft

NAMES = {  # in the library's common words
    "hidden_size": "n_embd",
    "num_hidden_layers": "n_layer",
    "num_attention_heads": "n_head",
    "max_position_embeddings": "n_positions",
}
POSITIONS = "the library counts columns; counting real tokens is the same without padding"


def _gpt2(config: Config, draft: Draft) -> None:
    config.rename(NAMES)
    parts.sizes(config, draft, "n_embd", "n_layer", "n_positions")
    learned(config, draft)
    parts.layer_norm(config, draft, config.number("layer_norm_epsilon", 1e-5))
    parts.block(config, draft)
    draft.put("attention.n_heads", config.count("n_head"))
    draft.put("attention.bias", parts.biases(parts.some_bias(config)))
    draft.put("attention.projection", config.code("fused", "c_attn makes q, k and v at once"))
    _scale(config, draft)
    activation = config.word("activation_function", parts.ACTIVATIONS, "gelu_new", "activation")
    d_ff = parts.four_times(config, "n_inner", "n_embd")
    parts.plain(config, draft, parts.some_bias(config), activation, d_ff)
    parts.language_model(config, draft, tied=True)
    residual = config.number("resid_pdrop", 0.1)
    parts.dropouts(
        draft,
        embedding=config.number("embd_pdrop", 0.1),
        attention=config.number("attn_pdrop", 0.1),
        residual=residual,
    )
    draft.put("init.kind", config.code("normal", "normal weights, zero biases"))
    draft.put("init.std", config.number("initializer_range", 0.02))
    outputs = config.code("depth_scaled", "output maps start smaller by the root of 2 n_layer")
    draft.put("init.outputs", outputs)
    never_read(config, "n_ctx")


def learned(config: Config, draft: Draft) -> None:
    """A trained table at the input, which counts real tokens."""
    draft.put("position.kind", config.code("learned", "a trained table of positions"))
    draft.put("position.offset", config.code(0, "position 0 reads row 0"))
    draft.put("position.index", config.deviates("mask", POSITIONS))


def _scale(config: Config, draft: Draft) -> None:
    scaled = config.flag("scale_attn_weights", True)
    draft.put("attention.scale", scaled.but("inv_sqrt_head_dim" if scaled.value else "one"))
    draft.put("attention.scale_by_layer", config.flag("scale_attn_by_inverse_layer_idx", False))


DIALECTS = (Dialect("gpt2", "gpt2", "gpt2", "GPT-2", _gpt2),)
