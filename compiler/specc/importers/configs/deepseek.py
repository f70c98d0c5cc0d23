"""DeepSeek-V2 and V3, whose keys and values unfold from one latent, and MiniCPM3, dense with the
same attention.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from specc.importers import parts
from specc.importers.common import never_read
from specc.importers.config import Cited, Config
from specc.importers.configs.mixtral import expert_part
from specc.importers.dialect import Dialect
from specc.importers.draft import Draft, Part
from specc.importers.rope import rope

_DERIVED = {
    "num_key_value_heads": "keys and values unfold for every head",
    "head_dim": "it follows from qk_rope_head_dim",
    "qk_head_dim": "it follows from qk_nope_head_dim and qk_rope_head_dim",
}


def _latent(
    config: Config, draft: Draft, layout: str, ranks: tuple[int, int], widths: tuple[int, int]
) -> int:
    """Everything but the values' width, the feed-forward and the head. `ranks`, of q and of k and
    v, and `widths`, of what is not turned and of what is, are the library's defaults.
    """
    (q_rank, kv_rank), (nope, turned) = ranks, widths
    n_layers = parts.sizes(config, draft)
    scaled = rope(config, draft, layout=layout)
    parts.rms_norm(config, draft)
    parts.block(config, draft)
    because = "keys and values unfold from one latent a token"
    draft.put("attention.kind", config.code("latent", because))
    draft.put("attention.n_heads", config.count("num_attention_heads"))
    draft.put("attention.nope_head_dim", config.count("qk_nope_head_dim", nope))
    draft.put("attention.rope_head_dim", config.count("qk_rope_head_dim", turned))
    draft.put("attention.kv_rank", config.count("kv_lora_rank", kv_rank))
    draft.put("attention.q_rank", config.optional_count("q_lora_rank", q_rank))
    fixed = "the eps of the latents' norms is fixed, whatever rms_norm_eps says"
    draft.put("attention.norm_eps", config.code(1e-6, fixed))
    draft.put("attention.scale_multiplier", _multiplier(scaled))
    said = config.flag("attention_bias", False)
    draft.put("attention.bias", said.but({"a": said.value, "o": said.value}))
    config.ignore(_DERIVED)
    parts.dropouts(draft, attention=config.number("attention_dropout", 0.0))
    return n_layers


def _multiplier(scaled: Part) -> Cited[float] | None:
    """Stretched positions multiply the scores too, by mscale squared."""
    factor, mscale = scaled.get("scaling.factor"), scaled.get("scaling.mscale_all_dim")
    if factor is None or mscale is None:
        return None
    grown = 0.1 * mscale.value * math.log(factor.value) + 1.0 if factor.value > 1 else 1.0
    return mscale.but(grown * grown, "(0.1 * mscale_all_dim * ln factor + 1) squared")


def _mixed(
    config: Config, draft: Draft, n_layers: int, defaults: tuple[int, float], own: Part
) -> None:
    """Some dense layers first, then mixtures with shared experts; `own` is how they choose, and
    `defaults` the library's for how many are dense and how much the chosen weigh.
    """
    part = dict(expert_part(config, "n_routed_experts", "moe_intermediate_size"))
    shared, width = config.count("n_shared_experts"), config.count("moe_intermediate_size")
    because = "n_shared_experts times moe_intermediate_size"
    part["shared"] = shared.but({"d_ff": shared.value * width.value}, because)
    scale = config.number("routed_scaling_factor", defaults[1])
    if scale.value == 1:
        config.ignore({"routed_scaling_factor": "a factor of 1 changes nothing"})
    else:
        part["scale"] = scale
    part.update(own)
    dense_count = config.whole("first_k_dense_replace", defaults[0])
    dense = dense_count.but([i < dense_count.value for i in range(n_layers)])
    axis = parts.dense_or_experts(dense, parts.gated_part(config, own["bias"]), part)
    draft.layers(config, [axis])
    config.expect("moe_layer_freq", 1, "mixtures in each layer after the first few are read")
    parts.language_model(config, draft, tied=False)
    parts.init(config, draft)


def _groups(config: Config, score: str, fill: str, defaults: Sequence[int | None]) -> Part:
    """Only the experts of the best groups take part."""
    count, kept = config.optional_count("n_group", defaults[0]), config.optional_count(
        "topk_group", defaults[1]
    )
    if count is None or kept is None or count.value == 1:
        return {}
    groups = {"n_groups": count.value, "n_kept": kept.value, "score": score, "fill": fill}
    return {"groups": Cited(groups, f"{count.at}, {kept.at}")}


def _deepseek_v2(config: Config, draft: Draft) -> None:
    config.rename({"num_experts": "n_routed_experts"})
    n_layers = _latent(config, draft, "interleaved", (1536, 512), (128, 64))
    draft.put("attention.value_head_dim", config.count("v_head_dim", 128))
    method = config.word("topk_method", _METHODS, "greedy", "way to choose experts")
    groups = _groups(config, "max", "zero", (None, None))
    own: dict[str, Cited[Any]] = {
        "bias": config.flag("mlp_bias", False),
        "score": config.code("softmax", "weights over all experts, then the best few"),
        "renormalise": config.code(False, "the library never reads norm_topk_prob"),
    }
    if method.value:
        own.update(groups)
    _mixed(config, draft, n_layers, (0, 1.0), own)
    config.expect("scoring_func", "softmax", "only a softmax is read")
    never_read(config, "norm_topk_prob")


_METHODS = {"greedy": False, "group_limited_greedy": True}


def _deepseek_v3(config: Config, draft: Draft) -> None:
    config.rename({"num_local_experts": "n_routed_experts"})
    config.rename({"num_mtp_layers": "num_nextn_predict_layers"})
    in_pairs = config.flag("rope_interleave", True)
    if not in_pairs.value:
        draft.layout = "deepseek_half"
    layout = "interleaved" if in_pairs.value else "half"
    n_layers = _latent(config, draft, layout, (1536, 512), (128, 64))
    draft.put("position.layout", in_pairs.but(layout))
    draft.put("attention.value_head_dim", config.count("v_head_dim", 128))
    own: dict[str, Cited[Any]] = {
        "bias": parts.no_bias(config),
        "score": config.code("sigmoid", "each expert is weighed apart"),
        "selection_bias": config.code(True, "a correction that decides, but does not weigh"),
        "renormalise": config.flag("norm_topk_prob", True),
        **_groups(config, "top2_sum", "minus_infinity", (8, 4)),
    }
    if own["renormalise"].value:
        own["renorm_eps"] = config.code(1e-20, "added to the sum that weights are divided by")
    _mixed(config, draft, n_layers, (3, 2.5), own)
    config.expect("scoring_func", "sigmoid", "only sigmoid scores are read")
    config.expect("topk_method", "noaux_tc", "only the choice by corrected scores is read")
    config.ignore(
        {
            "num_nextn_predict_layers": "for further tokens; the library loads none of them",
            "mlp_bias": "the library has such a key and never reads it",
        }
    )


def _minicpm3(config: Config, draft: Draft) -> None:
    n_layers = _latent(config, draft, "half", (768, 256), (64, 32))
    width, n_heads = config.count("hidden_size"), config.count("num_attention_heads")
    share = width.but(width.value // n_heads.value, "a share of the width for each head")
    draft.put("attention.value_head_dim", config.optional_count("v_head_dim") or share)
    draft.put("norm.eps", config.number("rms_norm_eps", 1e-5))
    draft.put("embedding.scale", config.number("scale_emb", 12))
    depth = config.number("scale_depth", 1.4)
    because = "scale_depth over the root of the number of layers"
    draft.put("block.residual_multiplier", depth.but(depth.value / math.sqrt(n_layers), because))
    parts.gated(config, draft, config.flag("mlp_bias", False))
    parts.language_model(config, draft, tied=True)
    base = config.number("dim_model_base", 256)
    multiplier = base.but(base.value / width.value, "dim_model_base over hidden_size")
    draft.put("head.in_multiplier", multiplier)
    parts.init(config, draft, default=0.1)


DIALECTS = (
    Dialect("deepseek_v2", "deepseek_v2", "deepseek", "DeepSeek-V2", _deepseek_v2),
    Dialect("deepseek_v3", "deepseek_v3", "deepseek", "DeepSeek-V3", _deepseek_v3),
    Dialect("minicpm3", "minicpm3", "minicpm3", "MiniCPM3", _minicpm3),
)
