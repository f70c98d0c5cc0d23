"""What configs say and the library does not do, and the other way round."""

from __future__ import annotations

import json
from typing import Any

import pytest

from specc.diagnostics import SpecError
from specc.importers import import_config
from specc.importers.configs import BY_MODEL_TYPE, MISSING
from specc.importers.draft import pattern
from specc.importers.layouts import LAYOUTS
from specc.spec import load
from tests.importers.compare import CONFIGS
from tests.importers.variants import VARIANTS


def published(name: str, **changes: Any) -> dict[str, Any]:
    """A config of the test data with other values; None is null, ... takes a key away."""
    values = json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))
    return {key: value for key, value in {**values, **changes}.items() if value is not ...}


def text(values: dict[str, Any]) -> str:
    return import_config(json.dumps(values).encode(), "config.json", "x").text


def spec(values: dict[str, Any]):
    return load(text(values), "x.yaml").spec


def layer(values: dict[str, Any], name: str = "layer"):
    (stack,) = spec(values).stacks
    return next(iter(stack.types.values())) if name == "layer" else stack.types[name]


def refused(values: dict[str, Any]) -> str:
    with pytest.raises(SpecError) as caught:
        text(values)
    return str(caught.value)


# Keys that the library has, or that files have, and nobody reads.


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("gemma_3_1b", "attn_logit_softcapping", 50.0),
        ("deepseek_v2_lite", "norm_topk_prob", True),
        ("mpt_7b", "learned_pos_emb", False),
        ("gpt_oss_20b", "experts_per_token", 7),
        ("phi_3_mini", "embd_pdrop", 0.5),
        ("opt_350m", "activation_dropout", 0.5),
    ],
)
def test_a_key_that_the_library_ignores_is_told_and_changes_nothing(name, key, value):
    with_key, without = text(published(name, **{key: value})), text(published(name, **{key: ...}))
    before, after = (
        t.partition("# Keys of the config that change")[0] for t in (with_key, without)
    )
    assert before == after
    assert key in with_key.partition("# Keys of the config that change")[2]


def test_mpt_ignores_the_largest_bias():
    attention = {"alibi": True, "alibi_bias_max": 16, "clip_qkv": None, "softmax_scale": None}
    found = text(published("mpt_7b", attn_config=attention))
    assert "alibi_bias_max: the library has such a key and never reads it" in found


# eps that ignores the config.


def test_an_eps_that_no_key_changes():
    assert layer(published("olmo_1b")).norm.eps == 1e-5
    assert "specc does not know this key" in refused(published("olmo_1b", rms_norm_eps=1e-6))
    assert layer(published("opt_350m")).norm.eps == 1e-5
    for name in ("deepseek_v2_lite", "deepseek_v3", "minicpm3_4b"):
        found = layer(published(name, rms_norm_eps=1e-3))
        assert (found.norm.eps, found.attention.norm_eps) == (1e-3, 1e-6)


# Words that mean something else than they say.


def test_gelu_means_its_tanh_form_in_the_first_gemma():
    found = published("gemma_2b", hidden_act="gelu")
    assert layer(found).feed_forward.activation == "gelu_tanh"
    assert "gelu in these configs means the tanh form" in text(found)


@pytest.mark.parametrize(
    ("word", "activation"),
    [("gelu", "gelu_erf"), ("gelu_new", "gelu_tanh"), ("gelu_pytorch_tanh", "gelu_tanh")],
)
def test_gelu_elsewhere_means_what_it_says(word, activation):
    assert layer(published("pythia_160m", hidden_act=word)).feed_forward.activation == activation


def test_quick_gelu_is_another_function():
    assert "quick_gelu" in refused(published("pythia_160m", hidden_act="quick_gelu"))


# Rotary positions, as configs have written them.

LLAMA3 = {"factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
FIRST = {"original_max_position_embeddings": 8192}


@pytest.mark.parametrize(
    "written",
    [
        {"rope_theta": 5e5, "rope_scaling": {"rope_type": "llama3", **LLAMA3, **FIRST}},
        {"rope_theta": 5e5, "rope_scaling": {"type": "llama3", **LLAMA3, **FIRST}},
        {
            "rope_theta": 5e5,
            "rope_scaling": {"rope_type": "llama3", "type": "llama3", **LLAMA3, **FIRST},
        },
        {"rope_parameters": {"rope_theta": 5e5, "rope_type": "llama3", **LLAMA3, **FIRST}},
        {
            "rope_theta": 10.0,
            "rope_scaling": None,
            "rope_parameters": {"rope_theta": 5e5, "rope_type": "llama3", **LLAMA3, **FIRST},
        },
    ],
    ids=["rope_type", "type", "both", "parameters", "theta_twice"],
)
def test_one_meaning_in_five_ways_of_writing(written):
    found = layer(published("llama_3_2_1b", **{"rope_parameters": ..., **written}))
    assert found.position == layer(published("llama_3_2_1b")).position


def test_two_mappings_that_each_say_the_whole():
    scaling = {"type": "linear", "factor": 2.0}
    assert "both rope_scaling and rope_parameters" in refused(
        published("llama_3_2_1b", rope_scaling=scaling)
    )


def test_no_scaling_in_three_ways_of_writing():
    plain = layer(published("llama_2_7b")).position
    for written in (None, {}, {"rope_type": "default"}, {"type": "default", "factor": 2.0}):
        assert layer(published("llama_2_7b", rope_scaling=written)).position == plain


def test_a_scaling_that_the_vocabulary_lacks_is_one_error():
    mrope = {"type": "mrope", "mrope_section": [16, 24, 24]}
    assert refused(published("llama_2_7b", rope_scaling=mrope)).count("error:") == 1


def test_what_stretching_takes_from_elsewhere():
    longest = {"max_position_embeddings": 4096}
    dynamic = published("llama_2_7b", **longest, rope_scaling={"type": "dynamic", "factor": 2.0})
    assert layer(dynamic).position.scaling.original_max_seq_len == 4096
    yarn = {"rope_type": "yarn", "factor": 4.0}
    assert layer(published("llama_2_7b", rope_scaling=yarn)).position.scaling.factor == 4.0
    ratio = {"rope_type": "yarn", "factor": None, "original_max_position_embeddings": 1024}
    assert layer(published("llama_2_7b", rope_scaling=ratio)).position.scaling.factor == 4.0


def test_the_older_theta_of_olmo_3_is_that_of_layers_that_see_all():
    found = published("olmo_3_7b", rope_theta=1e6)
    assert layer(found, "global").position.theta == 1e6
    assert layer(found, "local").position.theta == 5e5
    assert layer(found, "local").position.scaling is None


def test_the_two_thetas_of_gemma_3():
    older = published("gemma_3_1b")
    nested = {
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000},
        "full_attention": {"rope_type": "linear", "rope_theta": 1000000, "factor": 8.0},
    }
    keys = {"rope_theta": ..., "rope_local_base_freq": ..., "rope_parameters": nested}
    newer = published("gemma_3_1b", **keys)
    scaled = published("gemma_3_1b", rope_scaling={"rope_type": "linear", "factor": 8.0})
    assert layer(older, "local") == layer(newer, "local") == layer(scaled, "local")
    assert layer(newer, "global") == layer(scaled, "global")
    assert layer(scaled, "global").position.scaling.factor == 8.0


def test_longrope_of_phi_3_reads_the_first_length_outside():
    factors = {"short_factor": [1.0] * 48, "long_factor": [2.0] * 48}
    scaling = {"type": "su", **factors}
    found = layer(published("phi_3_mini", max_position_embeddings=131072, rope_scaling=scaling))
    assert found.position.scaling.kind == "longrope"
    assert found.position.scaling.original_max_seq_len == 4096
    scaling = {"type": "linear", "factor": 2.0}
    assert "longrope only" in refused(published("phi_3_mini", rope_scaling=scaling))


@pytest.mark.parametrize(("rotary_dim", "n_embd"), [(64, 4096), (24, 16 * 56), (6, 16 * 34)])
def test_the_rotary_share_gives_the_width_back(rotary_dim, n_embd):
    found = published("gpt_j_6b", rotary_dim=rotary_dim, n_embd=n_embd)
    assert int(n_embd // 16 * layer(found).position.fraction) == rotary_dim


# Layers.


def test_patterns():
    assert pattern(["a"] * 3) == ["a"]
    assert pattern(["a", "b", "a", "b", "a"]) == ["a", "b"]
    assert pattern(["a"] * 5 + ["b"]) == [{"a": 5}, "b"]
    assert pattern(["a", "b", "b"]) == ["a", {"b": 2}]


def test_the_window_of_qwen_2_begins_at_a_layer():
    window = {"use_sliding_window": True, "sliding_window": 64, "max_window_layers": 20}
    (stack,) = spec(published("qwen2_5_0_5b", **window)).stacks
    assert stack.pattern == ("global",) * 20 + ("local",) * 4
    assert stack.types["local"].attention.window == 64


def test_a_window_that_is_not_used():
    found = published("qwen2_5_0_5b", use_sliding_window=False, sliding_window=64)
    assert layer(found).attention.window is None
    assert "sliding_window: use_sliding_window is false" in text(found)
    said = ["sliding_attention"] * 24
    assert "use_sliding_window is false" in refused(published("qwen2_5_0_5b", layer_types=said))


def test_every_layer_of_mistral_has_the_window_or_none_has():
    assert layer(published("mistral_7b")).attention.window == 4096
    assert layer(published("mistral_7b", sliding_window=None)).attention.window is None


def test_the_window_of_smollm_3_is_on_the_layers_without_positions():
    found = published("smollm3_3b", use_sliding_window=True, sliding_window=64)
    (stack,) = spec(found).stacks
    assert set(stack.types) == {"rope_global", "nope_local"}
    assert stack.types["nope_local"].position.kind == "none"
    assert stack.types["nope_local"].attention.window == 64


def test_no_window_means_positions_everywhere_in_exaone_4():
    found = published("exaone_4_32b", sliding_window=None, sliding_window_pattern="LLLG")
    assert layer(found).position.kind == "rope"
    assert layer(found).attention.window is None


def test_layer_types_that_do_not_fit():
    short = published("gemma_2_2b", layer_types=["full_attention"] * 3)
    assert "layer_types speaks of 3 layers, and there are 26" in refused(short)
    other = published("gemma_2_2b", layer_types=["linear_attention"] * 26)
    assert '"linear_attention" are not in the vocabulary' in refused(other)


def test_dense_layers_between_experts():
    found = published("llama_4_scout", interleave_moe_layer_step=2)
    (stack,) = spec(found).stacks
    assert stack.pattern[:4] == ("chunked_dense", "chunked_moe", "chunked_dense", "global_moe")
    assert stack.types["chunked_dense"].feed_forward.d_ff == 16384


# Scales.


def test_a_query_scale_that_is_not_the_width():
    found = layer(published("gemma_2_2b", query_pre_attn_scalar=144)).attention
    assert found.scale.inv_sqrt == 144
    assert layer(published("gemma_2_2b")).attention.scale == "inv_sqrt_head_dim"


def test_logits_scaled_in_both_directions():
    assert spec(published("command_r", logit_scale=0.5)).heads[0].out_multiplier == 0.5
    assert spec(published("granite_3_2b", logits_scaling=4.0)).heads[0].out_multiplier == 0.25


def test_gpt_2_divides_by_the_layer():
    assert layer(published("gpt2", scale_attn_by_inverse_layer_idx=True)).attention.scale_by_layer
    assert layer(published("gpt2", scale_attn_weights=False)).attention.scale == "one"


# What must be refused.


@pytest.mark.parametrize(
    ("name", "key", "value", "missing"),
    [
        ("falcon_7b", "alibi", True, "ALiBi added before the scores are scaled"),
        ("deepseek_v3", "scoring_func", "softmax", "only sigmoid scores"),
        ("deepseek_v2_lite", "moe_layer_freq", 2, "mixtures in each layer"),
        ("deepseek_v2_lite", "topk_method", "noaux_tc", "way to choose experts"),
        ("gemma_2b", "use_bidirectional_attention", True, "attention to both sides"),
        ("mpt_7b", "no_bias", False, "biases are not read"),
        ("mpt_7b", "expansion_ratio", 3, "four times the width"),
        ("llama_2_7b", "is_encoder_decoder", True, "one stack"),
        ("llama_2_7b", "architectures", ["LlamaForTokenClassification"], "not a language model"),
        ("bert_base", "architectures", ["BertForQuestionAnswering"], "BertForQuestionAnswering"),
        ("bert_base", "position_embedding_type", "relative_key", "relative positions"),
        ("gpt2", "hidden_size", 769, "names of one thing"),
        ("opt_350m", "layerdrop", 0.1, "dropping whole layers"),
    ],
)
def test_what_the_vocabulary_lacks_is_named(name, key, value, missing):
    found = refused(published(name, **{key: value}))
    assert missing in found
    assert found.startswith("config.json:1:")


ZOO_OUT_OF_REACH = (
    "albert",
    "bart",
    "clip",
    "deit",
    "dinov2",
    "distilbert",
    "electra",
    "esm",
    "marian",
    "modernbert",
    "mt5",
    "nomic_bert",
    "pegasus",
    "perceiver",
    "qwen3_next",
    "roberta",
    "siglip",
    "swin",
    "t5",
    "vit",
    "whisper",
    "gemma3",
    "llama4",
)


@pytest.mark.parametrize("model_type", ZOO_OUT_OF_REACH)
def test_a_family_out_of_reach_is_refused_with_the_part_that_is_missing(model_type):
    found = refused({"model_type": model_type, "hidden_size": 8})
    assert f'model_type "{model_type}" cannot be imported: {MISSING[model_type]}' in found


def test_every_layout_is_known():
    found = {spec({"model_type": model_type, **values}).source for model_type, values in VARIANTS}
    assert {source.layout for source in found} == set(LAYOUTS)


def test_no_family_is_both_known_and_missing():
    assert not set(MISSING) & set(BY_MODEL_TYPE)
    assert {model_type for model_type, _ in VARIANTS} == set(BY_MODEL_TYPE)


def test_the_readme_names_every_dialect():
    readme = (CONFIGS.parents[2] / "README.md").read_text(encoding="utf-8")
    listed = readme.partition("Known model types: ")[2].partition("\n\n")[0]
    named = listed.replace(" (without ALiBi)", "").rstrip(".").replace("\n", " ").split(", ")
    assert named == sorted(BY_MODEL_TYPE)
