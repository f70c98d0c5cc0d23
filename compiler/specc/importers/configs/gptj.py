"""GPT-J: parallel sublayers behind one norm, the first rotary_dim features turned in pairs."""

from __future__ import annotations

import math

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Cited, Config
from specc.importers.configs.gpt2 import NAMES
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import kind_part


def _gptj(config: Config, draft: Draft) -> None:
    config.rename(NAMES)
    parts.sizes(config, draft, "n_embd", "n_layer", "n_positions")
    draft.put_all(kind_part(config, "interleaved"), "position.")
    draft.put("position.theta", config.code(10000.0, "the base of the angles is fixed"))
    draft.put("position.fraction", _fraction(config))
    parts.layer_norm(config, draft, config.number("layer_norm_epsilon", 1e-5))
    parts.block(config, draft, wiring="parallel", shared_norm=True)
    draft.put("attention.n_heads", config.count("n_head"))
    parts.attention(config, draft, parts.biases(parts.no_bias(config)))
    activation = config.word("activation_function", parts.ACTIVATIONS, "gelu_new", "activation")
    d_ff = parts.four_times(config, "n_inner", "n_embd")
    parts.plain(config, draft, config.code(True, "both maps have a bias"), activation, d_ff)
    has_bias = config.code(True, "the output matrix has a bias")
    parts.language_model(config, draft, tied=False, bias=has_bias)
    residual = config.number("resid_pdrop", 0.0)
    parts.dropouts(
        draft,
        embedding=config.number("embd_pdrop", 0.0),
        attention=config.number("attn_pdrop", 0.0),
        residual=residual,
    )
    parts.init(config, draft)
    config.expect("scale_attn_weights", True, "scores are always divided by the root of the width")
    never_read(config, "n_ctx", "rotary")


def _fraction(config: Config) -> Cited[float]:
    """rotary_dim as a share of the head, such that the share gives it back."""
    said = config.count("rotary_dim", 64)
    width = config.count("n_embd").value // config.count("n_head").value
    share = said.value / max(width, 1)
    if int(width * share) != said.value:
        share = math.nextafter(share, math.inf)
    return said.but(min(share, 1.0), "rotary_dim over the width of a head")


DIALECTS = (Dialect("gptj", "gptj", "gptj", "GPT-J", _gptj),)
