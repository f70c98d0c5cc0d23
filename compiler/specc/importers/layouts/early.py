"""How decoders of the years before were stored: maps transposed or fused, masks beside them."""

from __future__ import annotations

from specc.importers.layouts.entries import COMPUTED, MASK, TIED_HEAD, entry
from specc.ir.positions import RotaryLayout
from specc.weights import Arrangement, Copy, Dropped, Entry, Layout, Spelling

QKV = tuple(f"layers.{{layer}}.attention.{part}_proj.{{kind}}" for part in "qkv")


def layers(module: str, names: dict[str, str], *, transposed: bool = False) -> tuple[Entry, ...]:
    """Entries of one module list: published name -> path in our layer, each with its kind."""
    return tuple(
        entry(
            f"{module}.{{layer}}.{theirs}.{{kind}}",
            f"layers.{{layer}}.{ours}.{{kind}}",
            transposed=transposed,
        )
        for theirs, ours in names.items()
    )


NORMS = {"ln_1": "attention_norm", "ln_2": "feed_forward_norm"}
TWO_NORMS = {
    "input_layernorm": "attention_norm",
    "post_attention_layernorm": "feed_forward_norm",
}
DENSE = {
    "mlp.dense_h_to_4h": "feed_forward.up_proj",
    "mlp.dense_4h_to_h": "feed_forward.down_proj",
}
MASKS = (
    Dropped("transformer.h.{layer}.attn.bias", MASK),
    Dropped("transformer.h.{layer}.attn.masked_bias", MASK),
)

GPT2 = Layout(
    "gpt2",
    (
        entry("transformer.wte.weight", "embedding.weight"),
        entry("transformer.wpe.weight", "position_embedding.weight"),
        *layers("transformer.h", NORMS),
        entry(
            "transformer.h.{layer}.attn.c_attn.{kind}",
            *QKV,
            fused=Arrangement.BLOCKS,
            transposed=True,
        ),
        *layers(
            "transformer.h",
            {
                "attn.c_proj": "attention.o_proj",
                "mlp.c_fc": "feed_forward.up_proj",
                "mlp.c_proj": "feed_forward.down_proj",
            },
            transposed=True,
        ),
        entry("transformer.ln_f.{kind}", "norm.{kind}"),
        entry("lm_head.{kind}", "head.{kind}"),
    ),
    copies=TIED_HEAD,
    dropped=MASKS,
    prefixes=("transformer.",),
)
GPTJ = Layout(
    "gptj",
    (
        entry("transformer.wte.weight", "embedding.weight"),
        *layers(
            "transformer.h",
            {
                "ln_1": "norm",
                "attn.q_proj": "attention.q_proj",
                "attn.k_proj": "attention.k_proj",
                "attn.v_proj": "attention.v_proj",
                "attn.out_proj": "attention.o_proj",
                "mlp.fc_in": "feed_forward.up_proj",
                "mlp.fc_out": "feed_forward.down_proj",
            },
        ),
        entry("transformer.ln_f.{kind}", "norm.{kind}"),
        entry("lm_head.{kind}", "head.{kind}"),
    ),
    copies=TIED_HEAD,
    dropped=MASKS,
    prefixes=("transformer.",),
    pairs=RotaryLayout.INTERLEAVED,
)
GPT_NEOX = Layout(
    "gpt_neox",
    (
        entry("gpt_neox.embed_in.weight", "embedding.weight"),
        *layers("gpt_neox.layers", TWO_NORMS | {"attention.dense": "attention.o_proj"} | DENSE),
        entry(
            "gpt_neox.layers.{layer}.attention.query_key_value.{kind}",
            *QKV,
            fused=Arrangement.PER_HEAD,
        ),
        entry("gpt_neox.final_layer_norm.{kind}", "norm.{kind}"),
        entry("embed_out.{kind}", "head.{kind}"),
    ),
    copies=(Copy("embed_out.weight", "embedding.weight"),),
    dropped=(
        Dropped("gpt_neox.layers.{layer}.attention.bias", MASK),
        Dropped("gpt_neox.layers.{layer}.attention.masked_bias", MASK),
        Dropped("gpt_neox.layers.{layer}.attention.rotary_emb.inv_freq", COMPUTED),
    ),
    spellings=(Spelling("lm_head.", "embed_out."),),
    prefixes=("gpt_neox.",),
)
OPT = Layout(
    "opt",
    (
        entry("model.decoder.embed_tokens.weight", "embedding.weight"),
        entry("model.decoder.embed_positions.weight", "position_embedding.weight"),
        entry("model.decoder.project_in.{kind}", "embedding_proj.{kind}"),
        entry("model.decoder.project_out.{kind}", "head_proj.{kind}"),
        *layers(
            "model.decoder.layers",
            {
                "self_attn_layer_norm": "attention_norm",
                "final_layer_norm": "feed_forward_norm",
                "self_attn.q_proj": "attention.q_proj",
                "self_attn.k_proj": "attention.k_proj",
                "self_attn.v_proj": "attention.v_proj",
                "self_attn.out_proj": "attention.o_proj",
                "fc1": "feed_forward.up_proj",
                "fc2": "feed_forward.down_proj",
            },
        ),
        entry("model.decoder.final_layer_norm.{kind}", "norm.{kind}"),
        entry("lm_head.{kind}", "head.{kind}"),
    ),
    copies=TIED_HEAD,
    prefixes=("model.",),
    offset=2,
)
BLOOM = Layout(
    "bloom",
    (
        entry("transformer.word_embeddings.weight", "embedding.weight"),
        entry("transformer.word_embeddings_layernorm.{kind}", "embedding_norm.{kind}"),
        *layers("transformer.h", TWO_NORMS | {"self_attention.dense": "attention.o_proj"} | DENSE),
        entry(
            "transformer.h.{layer}.self_attention.query_key_value.{kind}",
            *QKV,
            fused=Arrangement.PER_HEAD,
        ),
        entry("transformer.ln_f.{kind}", "norm.{kind}"),
        entry("lm_head.{kind}", "head.{kind}"),
    ),
    copies=TIED_HEAD,
    prefixes=("transformer.",),
)
MPT = Layout(
    "mpt",
    (
        entry("transformer.wte.weight", "embedding.weight"),
        *layers(
            "transformer.blocks",
            {
                "norm_1": "attention_norm",
                "norm_2": "feed_forward_norm",
                "attn.out_proj": "attention.o_proj",
                "ffn.up_proj": "feed_forward.up_proj",
                "ffn.down_proj": "feed_forward.down_proj",
            },
        ),
        entry(
            "transformer.blocks.{layer}.attn.Wqkv.{kind}",
            *QKV,
            fused=Arrangement.BLOCKS,
        ),
        entry("transformer.norm_f.{kind}", "norm.{kind}"),
        entry("lm_head.{kind}", "head.{kind}"),
    ),
    copies=TIED_HEAD,
    prefixes=("transformer.",),
)
_FALCON = (
    entry("transformer.word_embeddings.weight", "embedding.weight"),
    *layers("transformer.h", {"self_attention.dense": "attention.o_proj"} | DENSE),
    entry(
        "transformer.h.{layer}.self_attention.query_key_value.{kind}",
        *QKV,
        fused=Arrangement.PER_GROUP,
    ),
    entry("transformer.ln_f.{kind}", "norm.{kind}"),
    entry("lm_head.{kind}", "head.{kind}"),
)
_PARALLEL_NORMS = {
    "input_layernorm": "norm",  # 7B: one for both
    "ln_attn": "attention_norm",  # 40B: one each
    "ln_mlp": "feed_forward_norm",
}
FALCON = Layout(
    "falcon",
    (*_FALCON, *layers("transformer.h", _PARALLEL_NORMS)),
    copies=TIED_HEAD,
    prefixes=("transformer.",),
)
FALCON_RW = Layout(
    "falcon_rw",
    (*_FALCON, *layers("transformer.h", TWO_NORMS)),
    copies=TIED_HEAD,
    prefixes=("transformer.",),
)
