"""The golden library against transformers' models: dense decoders and an encoder."""

from __future__ import annotations

import pytest
import torch
import transformers as hf

from specc.golden import Inputs, run
from specc.ir.block import EmbeddingScale, Wiring
from specc.ir.layers import Activation, Cast, NormWeight
from specc.ir.model import Kind
from specc.ir.positions import Llama3Scaling, PositionIndex, RotaryLayout
from specc.ir.sizes import Constant, Size
from specc.ir.walk import resize
from tests.golden import models as m
from tests.golden.compare import gap
from tests.golden.foreign import (
    AS_IT_IS,
    GPT2_NAMES,
    GPT2_SIZES,
    LLAMA_NAMES,
    SIZES,
    Case,
    both,
    decoder,
    hf_model,
    mapped,
    transposed,
)

NARROW = m.sized(m.HEAD_DIM, 3)


OLMO_NAMES = LLAMA_NAMES | {
    "post_attention_layernorm": "attention_norm",
    "post_feedforward_layernorm": "feed_forward_norm",
}
GPTJ_NAMES = GPT2_NAMES | {
    r"ln_1": "norm",
    r"attn\.([qkv])_proj": r"attention.\1_proj",
    r"attn\.out_proj": "attention.o_proj",
}
BLOOM_NAMES = {
    r"^transformer\.word_embeddings_layernorm": "embedding_norm",
    r"^transformer\.word_embeddings": "embedding",
    r"^transformer\.ln_f": "norm",
    r"^transformer\.h": "layers",
    "input_layernorm": "attention_norm",
    "post_attention_layernorm": "feed_forward_norm",
    r"self_attention\.query_key_value": "attention.qkv_proj",
    r"self_attention\.dense": "attention.o_proj",
    r"mlp\.dense_h_to_4h": "feed_forward.up_proj",
    r"mlp\.dense_4h_to_h": "feed_forward.down_proj",
}
BERT_NAMES = {
    r"^bert\.embeddings\.word_embeddings": "embedding",
    r"^bert\.embeddings\.token_type_embeddings": "type_embedding",
    r"^bert\.embeddings\.position_embeddings": "position_embedding",
    r"^bert\.embeddings\.LayerNorm": "embedding_norm",
    r"^bert\.encoder\.layer": "layers",
    r"^bert\.pooler\.dense": "pooler",
    r"^cls\.seq_relationship": "classifier",
    r"^cls\.predictions\.transform\.dense": "mlm_dense",
    r"^cls\.predictions\.transform\.LayerNorm": "mlm_norm",
    r"^cls\.predictions\.bias": "mlm_bias",
    r"attention\.self\.query": "attention.q_proj",
    r"attention\.self\.key": "attention.k_proj",
    r"attention\.self\.value": "attention.v_proj",
    r"attention\.output\.dense": "attention.o_proj",
    r"attention\.output\.LayerNorm": "attention_norm",
    r"intermediate\.dense": "feed_forward.up_proj",
    r"output\.dense": "feed_forward.down_proj",
    r"output\.LayerNorm": "feed_forward_norm",
}


def head_by_head(name, w):
    """Bloom stores the rows of q, k and v head by head; we all of q, all of k, all of v."""
    if "qkv_proj" not in name:
        return {name: w}
    heads = w.reshape(6, 3, 2, *w.shape[1:])
    return {name: heads.transpose(0, 1).reshape(w.shape)}


def gpt2():
    attention = m.attention(n_kv_heads=m.N_HEADS, head_dim=NARROW, fused=True)
    inputs = m.token_input(position=m.learned(index=PositionIndex.ARANGE))
    return decoder([attention, m.mlp(Activation.GELU_TANH)], m.layer_norm(), inputs=inputs)


def gptj():
    heads, width, turned = m.sized(m.N_HEADS, 2), m.HEAD_DIM, Size("rotary_dim", 4, "R")
    attention = m.attention(
        n_heads=heads,
        n_kv_heads=heads,
        bias=(False,) * 4,
        position=m.rotary(RotaryLayout.INTERLEAVED, rotary_dim=turned, head_dim=width),
    )
    bodies = [attention, m.mlp(Activation.GELU_TANH)]
    wiring = {"wiring": Wiring.PARALLEL, "shared": True}
    return decoder(bodies, m.layer_norm(), tied=False, bias=True, **wiring)


def llama_attention(norm=None, scaling=None, theta=10000.0):
    position = m.rotary(scaling=scaling, theta=theta)
    return m.attention(bias=(False,) * 4, norm=norm, position=position)


LLAMA3 = Llama3Scaling(
    Constant("rope_factor", 8.0),
    Constant("rope_low_freq_factor", 1.0),
    Constant("rope_high_freq_factor", 4.0),
    Size("rope_original_max_seq_len", 256, "O"),
)
LLAMA3_CONFIG = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 256,
}


def llama():
    return decoder([llama_attention(scaling=LLAMA3), m.glu()], m.rms_norm(), tied=False)


def qwen3():
    return decoder([llama_attention(m.qk_norm()), m.glu()], m.rms_norm())


def olmo2():
    bodies = [llama_attention(m.qk_norm(m.NormOver.FULL)), m.glu()]
    norm = m.rms_norm(cast=Cast.AFTER_WEIGHT)
    return decoder(bodies, norm, slots="post_sublayer", tied=False)


def gemma():
    norm = m.rms_norm(weight=NormWeight.ONE_PLUS, cast=Cast.AFTER_WEIGHT)
    inputs = m.token_input(scale=EmbeddingScale.SQRT_WIDTH)
    return decoder([llama_attention(), m.glu(Activation.GELU_TANH)], norm, inputs=inputs)


def bloom():
    heads, width = m.sized(m.N_HEADS, 6), m.sized(m.HEAD_DIM, 2)
    attention = m.attention(
        n_heads=heads, n_kv_heads=heads, head_dim=width, fused=True, position=m.alibi(heads)
    )
    inputs = m.token_input(norm=m.layer_norm("embedding_norm"))
    bodies = [attention, resize(m.mlp(Activation.GELU_TANH), {"d_ff": 48})]
    return decoder(bodies, m.layer_norm(), inputs=inputs)


def bert():
    norm = m.layer_norm(eps=1e-12)
    inputs = m.token_input(
        types=True,
        position=m.learned(index=PositionIndex.ARANGE),
        norm=m.named(norm, "embedding_norm"),
    )
    attention = m.attention(causal=False, n_kv_heads=m.N_HEADS, head_dim=NARROW)
    part = m.stack(inputs, [m.block([attention, m.mlp()], norm, "post")], name="encoder")
    heads = [m.masked_head(inputs, norm), m.classifier(pooler=True)]
    return resize(m.model(Kind.ENCODER, [part], heads), {"n_classes": 2})


CASES = {
    "gpt2": Case(
        lambda: hf.GPT2LMHeadModel(hf.GPT2Config(**GPT2_SIZES, n_head=4)),
        gpt2,
        GPT2_NAMES,
        transposed,
        columns=True,
    ),
    "gptj": Case(
        lambda: hf.GPTJForCausalLM(
            hf.GPTJConfig(**GPT2_SIZES, n_head=2, rotary_dim=4, tie_word_embeddings=False)
        ),
        gptj,
        GPTJ_NAMES,
    ),
    "llama": Case(
        hf_model("Llama", rope_parameters=LLAMA3_CONFIG, tie_word_embeddings=False),
        llama,
        LLAMA_NAMES,
    ),
    "qwen3": Case(hf_model("Qwen3", tie_word_embeddings=True), qwen3, LLAMA_NAMES),
    "olmo2": Case(
        hf_model("Olmo2", rms_norm_eps=1e-6, tie_word_embeddings=False), olmo2, OLMO_NAMES
    ),
    "gemma": Case(hf_model("Gemma", tie_word_embeddings=True), gemma, LLAMA_NAMES),
    "bloom": Case(
        lambda: hf.BloomForCausalLM(
            hf.BloomConfig(vocab_size=m.VOCAB.value, hidden_size=12, n_layer=2, n_head=6)
        ),
        bloom,
        BLOOM_NAMES,
        head_by_head,
        lifted_gap=1e-8,  # its tanh form writes sqrt(2 / pi) as 0.79788456
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_decoder(name, lifted):
    CASES[name].check(lifted)


def test_slopes_of_one_uniform_series_are_another_model(lifted, monkeypatch):
    series = [2.0 ** (-8 * h / 6) for h in range(1, 7)]
    monkeypatch.setattr("specc.golden.attention.alibi_slopes", lambda n_heads: series)
    assert gap(*both(CASES["bloom"])) > 1e-2


def test_encoder(lifted):
    config = hf.BertConfig(
        **SIZES,
        num_attention_heads=m.N_HEADS.value,
        intermediate_size=m.D_FF.value,
        max_position_embeddings=m.LENGTH.value,
        type_vocab_size=m.N_TYPES.value,
        attn_implementation="sdpa",
    )
    module = hf.BertForPreTraining(config).eval()
    weights = mapped(Case(lambda: None, bert, BERT_NAMES), module)
    tokens = torch.randint(0, m.VOCAB.value, (3, 9))
    types = torch.randint(0, m.N_TYPES.value, (3, 9))
    real = torch.arange(9)[None] < torch.tensor([9, 6, 2])[:, None]
    with torch.no_grad():
        expected = module(tokens, real.long(), types)
    found = run(bert(), weights, Inputs(tokens=tokens, token_mask=real, token_types=types)).outputs
    tolerance = 1e-12 if lifted else AS_IT_IS
    assert gap(found["logits"][real], expected.prediction_logits[real]) < tolerance
    assert gap(found["class_logits"], expected.seq_relationship_logits) < tolerance
