"""Configs of the decoders of the years before, and of BERT."""

from __future__ import annotations

from specc.importers.hf_configs.dense import biases
from specc.importers.hf_configs.dialect import Dialect, Sizes, square
from specc.importers.hf_configs.facts import ACTIVATIONS, Facts
from specc.importers.hf_configs.rope import rope
from specc.ir.feed_forward import Mlp
from specc.ir.heads import ClassifierHead, FeaturesHead, MaskedLanguageModelHead
from specc.ir.layers import Activation, NormWeight

NEW_GELU = {ACTIVATIONS[Activation.GELU_TANH]: "gelu_new"}


def _of_n(f: Facts) -> dict[str, object]:
    """The words of GPT-2."""
    return {
        "vocab_size": f.vocab_size,
        "n_embd": f.d_model,
        "n_layer": f.n_layers,
        "n_head": f.attention.n_heads.value,
        "n_inner": f.d_ff,
        "layer_norm_epsilon": f.eps,
        "activation_function": NEW_GELU.get(f.activation, f.activation),
        "tie_word_embeddings": f.tied,
    }


def _gpt2(f: Facts) -> dict[str, object]:
    return _of_n(f) | {
        "n_positions": f.table.size.value,
        "scale_attn_by_inverse_layer_idx": f.attention.scale_by_layer,
    }


def _gptj(f: Facts) -> dict[str, object]:
    rotary = f.rotary
    return _of_n(f) | {"n_positions": rotary.size.value, "rotary_dim": rotary.rotary_dim.value}


def _usual(f: Facts) -> dict[str, object]:
    return {
        "vocab_size": f.vocab_size,
        "hidden_size": f.d_model,
        "num_hidden_layers": f.n_layers,
        "num_attention_heads": f.attention.n_heads.value,
    }


def _gpt_neox(f: Facts) -> dict[str, object]:
    return _usual(f) | {
        "intermediate_size": f.d_ff,
        "hidden_act": f.activation,
        "layer_norm_eps": f.eps,
        "max_position_embeddings": f.rotary.size.value,
        "rope_parameters": rope(f.rotary),
        "use_parallel_residual": f.is_parallel,
        "attention_bias": biases(f)[0],
        "tie_word_embeddings": f.tied,
    }


def _opt(f: Facts) -> dict[str, object]:
    return _usual(f) | {
        "ffn_dim": f.d_ff,
        "activation_function": f.activation,
        "max_position_embeddings": f.table.size.value,
        "word_embed_proj_dim": f.input.embedding.width.value,
        "do_layer_norm_before": f.has_pre_norm,
        "layer_norm_elementwise_affine": f.norm_weight is not NormWeight.NONE,
        "_remove_final_layer_norm": f.has_pre_norm and f.stack.final_norm is None,
        "enable_bias": biases(f)[0],
        "tie_word_embeddings": f.tied,
    }


def _bloom(f: Facts) -> dict[str, object]:
    return {
        "vocab_size": f.vocab_size,
        "hidden_size": f.d_model,
        "n_layer": f.n_layers,
        "n_head": f.attention.n_heads.value,
        "layer_norm_epsilon": f.eps,
        "apply_residual_connection_post_layernorm": f.adds_to_normed,
        "tie_word_embeddings": f.tied,
    }


def _mpt(f: Facts) -> dict[str, object]:
    clip = f.attention.clip
    return {
        "vocab_size": f.vocab_size,
        "d_model": f.d_model,
        "n_layers": f.n_layers,
        "n_heads": f.attention.n_heads.value,
        "expansion_ratio": f.d_ff // f.d_model,
        "max_seq_len": 1024,
        "layer_norm_epsilon": f.eps,
        "no_bias": True,
        "attn_config": {
            "alibi": True,
            "clip_qkv": None if clip is None else clip.value,
            "softmax_scale": f.scale_factor,
        },
        "tie_word_embeddings": f.tied,
    }


def _falcon(f: Facts) -> dict[str, object]:
    one_each = f.is_parallel and not f.shares_norm
    groups, heads = f.attention.n_kv_heads.value, f.attention.n_heads.value
    found = _usual(f) | {
        "ffn_hidden_size": f.d_ff,
        "activation": f.activation,
        "layer_norm_epsilon": f.eps,
        "bias": biases(f)[0],
        "alibi": f.has_alibi,
        "parallel_attn": f.is_parallel,
        "new_decoder_architecture": one_each or groups not in (1, heads),
        "num_ln_in_parallel_attn": 2 if one_each else 1,
        "multi_query": groups == 1,
        "num_kv_heads": groups,
        "tie_word_embeddings": f.tied,
    }
    if f.has_alibi:
        return found
    return found | {
        "rope_parameters": rope(f.rotary),
        "max_position_embeddings": f.rotary.size.value,
    }


def _bert(f: Facts) -> dict[str, object]:
    types = f.input.types
    return _usual(f) | {
        "intermediate_size": f.d_ff,
        "hidden_act": f.activation,
        "layer_norm_eps": f.eps,
        "max_position_embeddings": f.table.size.value,
        "type_vocab_size": 1 if types is None else types.rows.value,
    }


def _four_wide(f: Facts) -> Sizes:
    """A feed-forward of four times the width, which is the heads' together."""
    sizes = dict(square(f))
    (width,) = sizes.values()
    part = f.feed_forwards[0]
    return sizes | ({part.d_ff.name: 4 * width} if isinstance(part, Mlp) else {})


def _two_classes(f: Facts) -> Sizes:
    """The next sentence is the next one or not."""
    return dict(square(f)) | {
        head.n_classes.name: 2 for head in f.model.heads if isinstance(head, ClassifierHead)
    }


def _heads(f: Facts) -> tuple[type[object], ...]:
    return tuple(type(head) for head in f.model.heads)


FALCON_ALIBI = "eager mode adds the bias twice (transformers 5.24)"
NO_SDPA = "the class has no other"

DIALECTS = (
    Dialect("gpt2", "gpt2", "GPT2LMHeadModel", _gpt2, sizes=square),
    Dialect("gptj", "gptj", "GPTJForCausalLM", _gptj, sizes=square),
    Dialect("gpt_neox", "gpt_neox", "GPTNeoXForCausalLM", _gpt_neox, sizes=square),
    Dialect("opt", "opt", "OPTForCausalLM", _opt, sizes=square),
    Dialect(
        "bloom",
        "bloom",
        "BloomForCausalLM",
        _bloom,
        sizes=_four_wide,
        attention="eager",
        because=NO_SDPA,
    ),
    Dialect(
        "mpt", "mpt", "MptForCausalLM", _mpt, sizes=_four_wide, attention="eager", because=NO_SDPA
    ),
    Dialect("falcon", "falcon", "FalconForCausalLM", _falcon, sizes=square),
    Dialect(
        "falcon_rw", "falcon", "FalconForCausalLM", _falcon, sizes=square, because=FALCON_ALIBI
    ),
    Dialect(
        "bert",
        "bert",
        "BertForPreTraining",
        _bert,
        lambda f: _heads(f) == (MaskedLanguageModelHead, ClassifierHead),
        _two_classes,
    ),
    Dialect(
        "bert",
        "bert",
        "BertModel",
        _bert,
        lambda f: _heads(f) == (FeaturesHead,),
        square,
        without=("add_pooling_layer",),
    ),
    Dialect(
        "bert",
        "bert",
        "BertForMaskedLM",
        _bert,
        lambda f: _heads(f) == (MaskedLanguageModelHead,),
        square,
    ),
)
