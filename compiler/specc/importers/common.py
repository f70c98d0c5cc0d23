"""Keys that any config of the library may hold and that change nothing in a model, with the
reasons, and those that must have the one value that does not.
"""

from __future__ import annotations

from specc.importers.config import Config

_REASONS = {
    "numbers of special tokens: the tokeniser's and the sampler's matter": (
        "bos_token_id eos_token_id pad_token_id sep_token_id cls_token_id unk_token_id"
        " mask_token_id decoder_start_token_id eod_token_id tokenizer_class"
    ),
    "which program wrote or loads the file": (
        "transformers_version auto_map torchscript model_name _commit_hash name_or_path"
        " unsloth_version unsloth_fixed _flash_attn_2_enabled _attn_implementation"
        " attn_implementation _attn_implementation_autoset use_flash_attn"
        " transformers.js_config is_llama_config"
    ),
    "the type of the stored numbers; a model computes in the one that it is given": (
        "dtype torch_dtype use_bfloat16"
    ),
    "how the stored numbers were packed; convert wants them unpacked": "quantization_config",
    "what a call gives back, not what it computes": (
        "use_cache return_dict return_dict_in_generate output_hidden_states output_attentions"
        " output_scores output_past tie_last_hidden_states"
    ),
    "memory or speed, not numbers": (
        "chunk_size_feed_forward gradient_checkpointing pretraining_tp slow_but_exact ep_size"
        " cache_implementation reorder_and_upcast_attn init_device attn_impl fused_norm_gate"
    ),
    "heads for classification, which this model has none of": (
        "id2label label2id num_labels problem_type finetuning_task classifier_dropout"
        " summary_type summary_use_proj summary_activation summary_proj_to_labels"
        " summary_first_dropout"
    ),
    "how text is generated, not how a token is scored": (
        "task_specific_params prefix max_length min_length do_sample early_stopping num_beams"
        " num_beam_groups diversity_penalty temperature top_k top_p typical_p"
        " repetition_penalty length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size"
        " bad_words_ids num_return_sequences forced_bos_token_id forced_eos_token_id"
        " remove_invalid_values exponential_decay_length_penalty suppress_tokens"
        " begin_suppress_tokens"
    ),
    "the loss of training": (
        "output_router_logits router_aux_loss_coef aux_loss_alpha seq_aux router_jitter_noise"
        " keys_to_ignore_at_inference tf_legacy_loss"
    ),
}
_IGNORED = {key: reason for reason, keys in _REASONS.items() for key in keys.split()}
_UNREAD = "the library has such a key and never reads it"


def read_common(config: Config) -> None:
    """The keys that no dialect needs to name."""
    config.ignore({**_IGNORED, "model_type": "which importer reads the config"})
    config.expect("is_encoder_decoder", False, "this importer reads models of one stack")
    config.expect("add_cross_attention", False, "attention over a second text is not imported")
    config.expect("cross_attention_hidden_size", None, "attention over a second text")
    config.expect("tie_encoder_decoder", False, "this importer reads models of one stack")
    config.expect(
        "pruned_heads", {}, "layers with fewer heads than others are not in the vocabulary"
    )
    config.expect("per_layer_config", None, "sizes that differ by layer are not in the vocabulary")
    config.expect("layerdrop", 0.0, "dropping whole layers is not in the vocabulary")


def never_read(config: Config, *keys: str) -> None:
    """Keys of the family that the library itself ignores."""
    config.ignore(dict.fromkeys(keys, _UNREAD))
