"""GPT-NeoX and Pythia: sublayers side by side, each with its own norm; part of a head turns."""

from __future__ import annotations

from specc.importers import parts
from specc.importers.config import Config
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft
from specc.importers.rope import rope


def _gpt_neox(config: Config, draft: Draft) -> None:
    parts.sizes(config, draft)
    rope(config, draft, fraction=0.25, theta_key="rotary_emb_base", fraction_key="rotary_pct")
    config.ignore(
        {
            "rope_theta": "rotary_emb_base or rope_parameters counts",
            "partial_rotary_factor": "rotary_pct or rope_parameters counts",
        }
    )
    parts.layer_norm(config, draft, config.number("layer_norm_eps", 1e-5))
    parallel = config.flag("use_parallel_residual", True)
    parts.block(config, draft, wiring=parts.wiring(parallel.value), said=parallel)
    draft.put("attention.n_heads", config.count("num_attention_heads"))
    parts.attention(config, draft, parts.biases(config.flag("attention_bias", True)))
    activation = config.word("hidden_act", parts.ACTIVATIONS, "gelu", "activation")
    parts.plain(
        config, draft, parts.some_bias(config), activation, config.count("intermediate_size")
    )
    parts.language_model(config, draft, tied=False)
    hidden = config.number("hidden_dropout", 0.0)
    parts.dropouts(
        draft,
        embedding=hidden,
        attention=config.number("attention_dropout", 0.0),
        residual=hidden,
    )
    parts.init(config, draft)
    config.expect("is_decoder", False, "only models by themselves are read")


DIALECTS = (Dialect("gpt_neox", "gpt_neox", "gpt_neox", "GPT-NeoX", _gpt_neox),)
