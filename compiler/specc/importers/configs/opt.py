"""OPT: learned positions from row 2, biases everywhere; the 350M one has post-norm and a narrower
embedding.
"""

from __future__ import annotations

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft


def _opt(config: Config, draft: Draft) -> None:
    parts.sizes(config, draft)
    _embedding(config, draft)
    draft.put("position.kind", config.code("learned", "a trained table of positions"))
    draft.put("position.offset", config.code(2, "position 0 reads row 2"))
    draft.put("position.index", config.code("mask", "real tokens are counted"))
    affine = config.flag("layer_norm_elementwise_affine", True)
    eps = config.code(1e-5, "torch's default: no key changes it")
    parts.layer_norm(config, draft, eps, weight="w" if affine.value else "none")
    draft.put("norm.weight", affine.but("w" if affine.value else "none"))
    _block(config, draft)
    draft.put("attention.n_heads", config.count("num_attention_heads"))
    bias = config.flag("enable_bias", True)
    parts.attention(config, draft, parts.biases(bias))
    activation = config.word("activation_function", parts.ACTIVATIONS, "relu", "activation")
    parts.plain(config, draft, bias, activation, config.count("ffn_dim"))
    parts.language_model(config, draft, tied=True)
    hidden = config.number("dropout", 0.1)
    parts.dropouts(
        draft,
        attention=config.number("attention_dropout", 0.0),
        residual=hidden,
    )
    parts.init(config, draft, "init_std")
    never_read(config, "activation_dropout", "output_projection")


def _embedding(config: Config, draft: Draft) -> None:
    width = config.optional_count("word_embed_proj_dim")
    if width is not None and width.value != config.count("hidden_size").value:
        draft.put("embedding.width", width)
        because = "token rows are mapped to the model's width before positions are added"
        draft.put("embedding.project.at", config.code("before_position", because))
        draft.put("embedding.project.bias", config.code(False, "the map has no bias"))


def _block(config: Config, draft: Draft) -> None:
    before = config.flag("do_layer_norm_before", True)
    parts.block(config, draft, "pre" if before.value else "post")
    placement = draft.citations["block.norm_placement"]
    draft.put("block.norm_placement", before.but(placement.value, placement.because))
    removed = config.flag("_remove_final_layer_norm", False)
    if removed.value:
        draft.put("final_norm", removed.but(False))


DIALECTS = (Dialect("opt", "opt", "opt", "OPT", _opt),)
