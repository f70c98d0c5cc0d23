"""What the rules across fields refuse: a spec, the path of its problem, the words."""

from __future__ import annotations

from tests.unit.lower.build import (
    LAYER_NORM,
    RMS_NORM,
    decoder,
    encoder_decoder,
    features,
    layer,
    stack,
    two_types,
)

ROPE = {"kind": "rope"}
LLAMA3 = {"kind": "llama3", "factor": 8.0, "low_freq_factor": 4.0, "high_freq_factor": 4.0}
PARALLEL = {"wiring": "parallel"}
CROSSED = ("attention", "cross_attention", "feed_forward")
MLM = {"kind": "masked_language_model", "activation": "relu", "norm": RMS_NORM}
CLASSIFIER = {"kind": "classifier", "pool": "first", "n_classes": 3}

CASES = {
    "heads_do_not_divide": (
        decoder(attention={"n_heads": 3}),
        "attention.n_heads",
        "d_model 8 does not divide into 3 heads",
    ),
    "kv_heads_do_not_divide": (
        decoder(attention={"n_heads": 30, "n_kv_heads": 8, "head_dim": 4}),
        "attention.n_kv_heads",
        "30 heads do not divide over 8 key/value heads",
    ),
    "more_kv_heads_than_heads": (
        decoder(attention={"n_heads": 2, "n_kv_heads": 4}),
        "attention.n_kv_heads",
        "2 heads do not divide over 4",
    ),
    "cross_kv_heads_do_not_divide": (
        encoder_decoder(
            decoder=stack(
                types={"layer": layer(CROSSED, cross_attention={"n_heads": 4, "n_kv_heads": 3})}
            )
        ),
        "cross_attention.n_kv_heads",
        "4 heads do not divide over 3",
    ),
    "odd_rotary_head": (
        decoder(position=ROPE, attention={"n_heads": 2, "head_dim": 5}),
        "attention.head_dim",
        "head_dim 5 is odd",
    ),
    "odd_rotary_fraction": (
        decoder(position={"kind": "rope", "fraction": 0.75}),
        "position.fraction",
        "3 = int(4 * 0.75) is odd",
    ),
    "empty_rotary_fraction": (
        decoder(position={"kind": "rope", "fraction": 0.1}),
        "position.fraction",
        "would turn no feature",
    ),
    "llama3_factors": (
        decoder(position={"kind": "rope", "scaling": {**LLAMA3, "original_max_seq_len": 8}}),
        "position.scaling.low_freq_factor",
        "low_freq_factor 4 must be below high_freq_factor 4",
    ),
    "rope_without_self_attention": (
        decoder(sublayers=("feed_forward",), position=ROPE),
        "position",
        "position rope works inside self-attention, and this block has none",
    ),
    "alibi_with_cross_attention": (
        encoder_decoder(
            decoder=stack(types={"layer": layer(CROSSED, position={"kind": "alibi"})}),
        ),
        "decoder.position",
        "alibi measures distances in one sequence",
    ),
    "post_norm_parallel": (
        decoder(block={"norm_placement": "post", **PARALLEL}),
        "block.wiring",
        "post-norm has no place of its own",
    ),
    "shared_norm_sequential": (
        decoder(block={"shared_norm": True}),
        "block.shared_norm",
        "shared_norm is for `wiring: parallel`",
    ),
    "shared_norm_after": (
        decoder(block={"shared_norm": True, "norm_placement": "post_sublayer", **PARALLEL}),
        "block.shared_norm",
        "post_sublayer has none there",
    ),
    "parallel_alone": (
        decoder(sublayers=("attention",), block=PARALLEL),
        "block.wiring",
        "one sublayer (attention) cannot be parallel",
    ),
    "sublayer_twice": (
        decoder(sublayers=("attention", "attention")),
        "block.sublayers",
        "attention stands in a block more than once",
    ),
    "no_sublayer": (decoder(sublayers=()), "block.sublayers", "at least one sublayer"),
    "part_missing": (decoder(attention=None), "attention", "nothing says what it is"),
    "rms_bias": (decoder(norm={**RMS_NORM, "bias": True}), "norm.bias", "an rms norm has no bias"),
    "rms_native_cast": (
        decoder(norm={**RMS_NORM, "cast": "native"}),
        "norm.cast",
        "cast native is torch's own layer norm",
    ),
    "layer_norm_cast": (
        decoder(norm={**LAYER_NORM, "cast": "after_weight"}),
        "norm.cast",
        "cast after_weight is for kind rms",
    ),
    "qk_norm_bias": (
        decoder(attention={"n_heads": 2, "qk_norm": {"kind": "rms", "bias": True}}),
        "attention.qk_norm.bias",
        "an rms norm has no bias",
    ),
    "embedding_norm_bias": (
        {"embedding": {"norm": {**RMS_NORM, "bias": True}}},
        "embedding.norm.bias",
        "an rms norm has no bias",
    ),
    "final_norm_cast": (
        {"stacks": (stack(final_norm={**LAYER_NORM, "cast": "before_weight"}),)},
        "final_norm.cast",
        "is for kind rms",
    ),
    "encoder_final_norm_cast": (
        encoder_decoder(encoder=stack("encoder", final_norm={**RMS_NORM, "cast": "native"})),
        "encoder.final_norm.cast",
        "says when it casts",
    ),
    "head_norm_bias": (
        {"heads": ({**MLM, "norm": {**RMS_NORM, "bias": True}},)},
        "head.norm.bias",
        "an rms norm has no bias",
    ),
    "fused_cross_attention": (
        features(
            stacks=(
                stack(
                    types={
                        "layer": layer(
                            ("cross_attention",),
                            cross_attention={"n_heads": 2, "projection": "fused"},
                        )
                    }
                ),
            )
        ),
        "cross_attention.projection",
        "cross-attention has two",
    ),
    "fused_with_unequal_biases": (
        decoder(attention={"n_heads": 2, "projection": "fused", "bias": {"q": True}}),
        "attention.bias",
        "a fused projection has one bias",
    ),
    "features_with_vocabulary": (features(vocab_size=7), "vocab_size", "it has no vocabulary"),
    "features_with_embedding": (features(embedding={}), "embedding", "nothing is embedded"),
    "features_with_positions": (
        features(
            stacks=(
                stack(types={"layer": layer(("cross_attention",), position={"kind": "learned"})}),
            )
        ),
        "position",
        "position must be none",
    ),
    "features_with_language_model": (
        features(heads=({"kind": "language_model"},)),
        "head",
        "kind features has no vocabulary",
    ),
    "features_with_masked_language_model": (
        features(heads=({"kind": "features"}, MLM)),
        "head[1]",
        "kind features has no vocabulary",
    ),
    "tied_without_embedding": (
        features(heads=({"kind": "language_model", "tied": True},)),
        "head.tied",
        "kind features has none",
    ),
    "features_that_read_no_memory": (
        features(stacks=(stack(types={"layer": layer()}),)),
        "block.sublayers",
        "kind features without cross_attention never reads its memory",
    ),
    "encoder_decoder_without_cross_attention": (
        encoder_decoder(decoder=stack()),
        "decoder.block.sublayers",
        "kind encoder_decoder without cross_attention",
    ),
    "encoder_with_cross_attention": (
        encoder_decoder(encoder=stack("encoder", {"layer": layer(CROSSED)})),
        "encoder.block.sublayers",
        "it cannot look at it",
    ),
    "decoder_with_cross_attention": (
        decoder(sublayers=CROSSED),
        "block.sublayers",
        "kind decoder has no memory",
    ),
    "vocabulary_missing": ({"vocab_size": None}, "vocab_size", "vocab_size is missing"),
    "token_types_on_a_decoder": (
        {"embedding": {"types": 2}},
        "embedding.types",
        "token types are for kind encoder, not decoder",
    ),
    "shared_on_a_decoder": (
        {"embedding": {"shared": True}},
        "embedding.shared",
        "source and target share a table in kind encoder_decoder",
    ),
    "cache_on_an_encoder": (
        {"kind": "encoder", "features": ("cache",), "stacks": (stack("encoder"),)},
        "features",
        "a cache is for kinds that are causal",
    ),
    "cache_of_nothing": (
        {**decoder(sublayers=("feed_forward",)), "features": ("cache",)},
        "features",
        "no layer has self-attention",
    ),
    "generate_without_a_cache": (
        {"features": ("generate",)},
        "features",
        "so it needs a cache",
    ),
    "cpu_decode_without_a_cache": (
        {"features": ("cpu_decode",)},
        "features",
        "so it needs a cache",
    ),
    "generate_without_tokens": (
        {"features": ("cache", "generate"), "heads": ({"kind": "features"},)},
        "features",
        "generate needs a head that predicts tokens",
    ),
    "weights_of_two_stacks": (
        encoder_decoder(outputs=("attention_weights",)),
        "outputs",
        "attention_weights are for kinds decoder and encoder",
    ),
    "weights_of_no_attention": (
        {
            "stacks": (stack(types={"a": layer(), "b": layer(("feed_forward",))}),),
            "outputs": ("attention_weights",),
        },
        "outputs",
        "layer type b has no attention",
    ),
    "max_seq_len_missing": (
        {**decoder(position={"kind": "learned"}), "max_seq_len": None},
        "max_seq_len",
        "position learned has a table",
    ),
    "two_tables": (
        two_types(
            {"position": {"kind": "sinusoidal"}},
            {"position": {"kind": "sinusoidal", "layout": "concat"}},
        ),
        "layers.types.global.position",
        "must name the same one",
    ),
    "none_beside_a_table": (
        two_types({"position": {"kind": "none"}}, {"position": {"kind": "learned"}}),
        "layers.types.local.position",
        "local has none, global has learned",
    ),
    "odd_width_for_half": (
        {
            **decoder(
                position={"kind": "sinusoidal", "frequency": "k/(half-1)"},
                attention={"n_heads": 1, "head_dim": 3},
            ),
            "d_model": 9,
        },
        "position.frequency",
        "d_model 9 must be even",
    ),
    "narrow_width_for_half": (
        {
            **decoder(position={"kind": "sinusoidal", "frequency": "k/(half-1)"}),
            "d_model": 2,
        },
        "position.frequency",
        "at least 4",
    ),
    "depth_scaled_xavier": (
        {"init": {"kind": "xavier_uniform", "outputs": "depth_scaled"}},
        "init.outputs",
        "divides the std of init kind normal",
    ),
    "unknown_layer_type": (
        {"stacks": (stack(types={"local": layer()}, pattern=("local", "locla")),)},
        "layers.pattern[1]",
        "no layer type is called locla",
    ),
    "unused_layer_type": (
        {"stacks": (stack(types={"a": layer(), "b": layer()}, pattern=("a",)),)},
        "layers.types.b",
        "layer type b stands in no pattern",
    ),
    "unreached_layer_type": (
        {"stacks": (stack(types={"a": layer(), "b": layer()}, pattern="aaaab"),)},
        "layers.types.b",
        "never reached: n_layers is 3, its first place in the pattern is 5",
    ),
    "empty_pattern": (
        {"stacks": ({**stack(), "pattern": ()},)},
        "layers.pattern",
        "a pattern needs at least one name",
    ),
    "no_head": ({"heads": ()}, "head", "at least one head"),
    "two_language_models": (
        {"heads": ({"kind": "language_model"}, MLM)},
        "head[1].kind",
        "two outputs are called logits",
    ),
    "two_classifiers_of_one_name": (
        {"heads": (CLASSIFIER, CLASSIFIER)},
        "head[1].name",
        "two outputs are called class_logits",
    ),
    "classifier_that_hides_a_module": (
        {"heads": ({"kind": "language_model"}, {**CLASSIFIER, "name": "layers"})},
        "head[1].name",
        "the model has another part called layers",
    ),
    "pooler_that_hides_a_classifier": (
        {"heads": ({**CLASSIFIER, "name": "pooler", "pooler": "tanh"}, {"kind": "features"})},
        "head[0].name",
        "another part called pooler",
    ),
    "classifier_with_a_cache": (
        {"features": ("cache",), "heads": (CLASSIFIER,)},
        "features",
        "a classifier pools over all tokens",
    ),
    "types_that_look_at_other_things": (
        two_types({}, {"sublayers": ("feed_forward",)}),
        "layers.types.global.block.sublayers",
        "global has none, local has attention",
    ),
    "class_of_the_file": ({"class_name": "Block"}, "class", "would be called Block"),
    "class_of_the_file_by_name": ({"name": "config"}, "name", "would be called Config"),
    "class_of_a_layer_type": (
        {**two_types({}, {}), "class_name": "LocalBlock"},
        "class",
        "would be called LocalBlock",
    ),
    "config_names_collide": (
        {
            "stacks": (
                stack(
                    types={
                        "width": layer(attention={"n_heads": 2, "scale": 0.5}),
                        "other": layer(attention={"n_heads": 2, "scale": 0.25}),
                        "third": layer(attention={"n_heads": 2, "scale": {"inv_sqrt": 9}}),
                    }
                ),
            )
        },
        "layers.types.third",
        "two numbers would be called attention_scale_width",
    ),
}
