"""The golden library against transformers' models with narrower embeddings, counted ids, windows
both ways, and residuals of what was normed; and their tables of scaled frequencies.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
import transformers as hf
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from specc.golden import Inputs, run
from specc.golden.frequencies import turns
from specc.ir.block import ProjectAt, Residual
from specc.ir.layers import Activation
from specc.ir.model import Kind
from specc.ir.positions import PositionIndex
from specc.ir.sizes import Size, width
from tests.golden import models as m
from tests.golden import models_attention as ma
from tests.golden import models_experts as mx
from tests.golden.compare import gap
from tests.golden.foreign import (
    AS_IT_IS,
    LIFTED,
    LLAMA_SIZES,
    SIZES,
    WIDE,
    Case,
    decoder,
    mapped,
    padded,
    widened,
)
from tests.golden.test_against_transformers import BERT_NAMES, BLOOM_NAMES, bloom, head_by_head
from tests.golden.weights import stress_weights

NARROW = m.sized(m.HEAD_DIM, 3)
HEADS = {"num_attention_heads": m.N_HEADS.value, "intermediate_size": m.D_FF.value}
ENCODER_SIZES = SIZES | HEADS | {"max_position_embeddings": m.LENGTH.value}


def opt():
    position = m.learned(offset=2)
    inputs = replace(
        m.token_input(position=position),
        embedding=mx.narrow_embedding(),
        project=mx.projection(ProjectAt.BEFORE_POSITION),
    )
    part = m.attention(n_kv_heads=m.N_HEADS, head_dim=NARROW)
    mlp = m.mlp(Activation.RELU)
    model = decoder([part, mlp], m.layer_norm(), inputs=inputs, final=False, slots="post")
    (head,) = model.heads
    down = m.linear("head_proj", width(m.D_MODEL), width(mx.NARROW), False)
    return replace(model, heads=(replace(head, project=down),))


OPT_NAMES = {
    r"^model\.decoder\.embed_tokens": "embedding",
    r"^model\.decoder\.embed_positions": "position_embedding",
    r"^model\.decoder\.project_in": "embedding_proj",
    r"^model\.decoder\.project_out": "head_proj",
    r"^model\.decoder\.layers": "layers",
    r"self_attn\.out_proj": "attention.o_proj",
    r"self_attn\.": "attention.",
    "self_attn_layer_norm": "attention_norm",
    "final_layer_norm": "feed_forward_norm",
    "fc1": "feed_forward.up_proj",
    "fc2": "feed_forward.down_proj",
}


def normed_bloom():
    def edit(block):
        return replace(
            block, sublayers=tuple(replace(s, residual=Residual.NORMED) for s in block.sublayers)
        )

    model = bloom()
    (stack,) = model.stacks
    types = tuple(replace(t, block=edit(t.block)) for t in stack.layer_types)
    return replace(model, stacks=(replace(stack, layer_types=types),))


CASES = {
    "opt": Case(
        lambda: hf.OPTForCausalLM(
            hf.OPTConfig(
                **SIZES,
                num_attention_heads=m.N_HEADS.value,
                ffn_dim=m.D_FF.value,
                max_position_embeddings=m.LENGTH.value,
                word_embed_proj_dim=mx.NARROW.value,
                do_layer_norm_before=False,
                pad_token_id=1,
            )
        ),
        opt,
        OPT_NAMES,
        columns=True,
    ),
    "bloom of normed residuals": Case(
        lambda: hf.BloomForCausalLM(
            hf.BloomConfig(
                vocab_size=m.VOCAB.value,
                hidden_size=12,
                n_layer=2,
                n_head=6,
                apply_residual_connection_post_layernorm=True,
            )
        ),
        normed_bloom,
        BLOOM_NAMES,
        head_by_head,
        lifted_gap=1e-8,  # its tanh form writes sqrt(2 / pi) as 0.79788456
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_decoder(name, lifted):
    CASES[name].check(lifted)


def encoder(inputs, blocks, final=None):
    stack = m.stack(inputs, blocks, name="encoder", final_norm=final)
    return m.model(Kind.ENCODER, [stack], [m.FeaturesHead("features")])


def features_gap(ir, module, names, tokens, real, convert=None):
    """Between the last features of real tokens."""
    case = Case(lambda: None, lambda: ir, names, **({"convert": convert} if convert else {}))
    weights = {n: w for n, w in mapped(case, module.eval()).items() if not n.startswith("pooler")}
    with torch.no_grad():
        expected = module(tokens, real.long()).last_hidden_state
    found = run(ir, weights, Inputs(tokens=tokens, token_mask=real)).outputs["features"]
    return gap(found[real], expected[real])


def roberta():
    norm = m.layer_norm()
    position = replace(m.learned(offset=2, index=PositionIndex.IDS), pad_id=1)
    inputs = m.token_input(types=True, position=position, norm=m.named(norm, "embedding_norm"))
    part = m.attention(causal=False, n_kv_heads=m.N_HEADS, head_dim=NARROW)
    return encoder(inputs, [m.block([part, m.mlp()], norm, "post")])


def test_positions_that_count_ids_and_no_mask(lifted):
    config = hf.RobertaConfig(
        **ENCODER_SIZES | {"max_position_embeddings": m.LENGTH.value + 2},
        type_vocab_size=m.N_TYPES.value,
        pad_token_id=1,
        layer_norm_eps=1e-5,
    )
    module = hf.RobertaModel(config, add_pooling_layer=False)
    names = {name.replace(r"bert\.", ""): ours for name, ours in BERT_NAMES.items()}
    tokens, real = padded()
    tokens[:, 7] = 1  # a padding id in the midst of text, which the mask calls real
    assert features_gap(roberta(), module, names, tokens, real) < (LIFTED if lifted else AS_IT_IS)


def electra():
    norm = m.layer_norm(eps=1e-12)
    thin = m.named(m.layer_norm("embedding_norm", width(mx.NARROW), 1e-12), "embedding_norm")
    position = replace(m.learned(index=PositionIndex.ARANGE), width=mx.NARROW)
    inputs = m.token_input(types=True, position=position, norm=thin)
    inputs = replace(
        inputs,
        embedding=mx.narrow_embedding(),
        types=replace(inputs.types, width=mx.NARROW),
        project=mx.projection(ProjectAt.AFTER_NORM, bias=True),
    )
    part = m.attention(causal=False, n_kv_heads=m.N_HEADS, head_dim=NARROW)
    return encoder(inputs, [m.block([part, m.mlp()], norm, "post")])


def test_a_projection_after_the_norm(lifted):
    config = hf.ElectraConfig(
        **ENCODER_SIZES, embedding_size=mx.NARROW.value, type_vocab_size=m.N_TYPES.value
    )
    names = {"^embeddings_project": "embedding_proj"} | {
        name.replace(r"bert\.", ""): ours for name, ours in BERT_NAMES.items()
    }
    tokens, real = padded()
    found = features_gap(electra(), hf.ElectraModel(config), names, tokens, real)
    assert found < (LIFTED if lifted else AS_IT_IS)


def modernbert():
    """The first layer has no norm before its attention, and sees everything."""
    norm = m.layer_norm(bias=False)
    far = m.attention(
        causal=False,
        n_kv_heads=m.N_HEADS,
        fused=True,
        bias=(False,) * 4,
        position=m.rotary(theta=160000.0),
    )
    near = replace(far, position=m.rotary(theta=10000.0), reach=ma.window(2))
    glu = m.glu(Activation.GELU_ERF)
    first, second = (m.block([part, glu], norm) for part in (far, near))
    bare = replace(first.sublayers[0], pre=None)
    first = replace(first, sublayers=(bare, first.sublayers[1]))
    inputs = m.token_input(norm=m.named(norm, "embedding_norm"))
    return widened(encoder(inputs, [first, second], final=norm))


MODERNBERT_NAMES = {
    r"^embeddings\.tok_embeddings": "embedding",
    r"^embeddings\.norm": "embedding_norm",
    "^final_norm": "norm",
    r"attn\.Wqkv": "attention.qkv_proj",
    r"attn\.Wo": "attention.o_proj",
    "attn_norm": "attention_norm",
    "mlp_norm": "feed_forward_norm",
    r"mlp\.Wi": "feed_forward.gate_up_proj",
    r"mlp\.Wo": "feed_forward.down_proj",
}


def halves(name, w):
    if "gate_up_proj" not in name:
        return {name: w}
    parts = zip(("gate", "up"), w.chunk(2), strict=True)
    return {name.replace("gate_up", part): rows for part, rows in parts}


def test_a_window_both_ways(lifted):
    config = hf.ModernBertConfig(
        **ENCODER_SIZES | {"hidden_size": WIDE},
        local_attention=4,
        layer_types=["full_attention", "sliding_attention"],
        pad_token_id=0,
        attn_implementation="sdpa",
    )
    module = hf.ModernBertModel(config)
    tokens, real = padded()
    found = features_gap(modernbert(), module, MODERNBERT_NAMES, tokens, real, halves)
    assert found < (LIFTED if lifted else AS_IT_IS)


SCALINGS = {
    "linear": (ma.linear_scaling(4.0), {"factor": 4.0}),
    "dynamic": (ma.dynamic(4.0, 16), {"factor": 4.0}),
    "llama3": (
        ma.llama3(8.0, 1.0, 4.0, 32),
        {
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 32,
        },
    ),
    "yarn": (
        ma.yarn(16.0, 2048, gain=1.27725887222398),
        {"factor": 16.0, "original_max_position_embeddings": 2048},
    ),
    "longrope": (
        ma.longrope(tuple(1.0 + i for i in range(8)), tuple(3.0 + i for i in range(8)), 16, 1.5),
        {
            "factor": 4.0,
            "short_factor": [1.0 + i for i in range(8)],
            "long_factor": [3.0 + i for i in range(8)],
            "original_max_position_embeddings": 16,
            "attention_factor": 1.5,
        },
    ),
    "proportional": (ma.proportional(), {"partial_rotary_factor": 0.5}),
}


@pytest.mark.parametrize("extent", [9, 16, 17, 60])
@pytest.mark.parametrize("name", list(SCALINGS))
def test_frequencies(name, extent, lifted):
    scaling, given = SCALINGS[name]
    size = m.sized(m.HEAD_DIM, 16)
    turned = Size("rotary_dim", 8, "R") if name == "proportional" else None
    part = m.rotary(scaling=scaling, head_dim=size, rotary_dim=turned)
    config = hf.LlamaConfig(
        **LLAMA_SIZES | {"head_dim": 16, "max_position_embeddings": 16},
        rope_parameters={"rope_type": name, "rope_theta": 10000.0} | given,
    )
    expected, gain = ROPE_INIT_FUNCTIONS[name](config, torch.device("cpu"), seq_len=extent)
    found = turns(part, extent)
    assert found.gain == pytest.approx(gain, rel=1e-14)
    assert gap(torch.tensor(found.frequencies), expected) < (1e-15 if lifted else 1e-6)


@pytest.mark.parametrize("name", ["dynamic", "longrope"])
def test_a_cache_is_scaled_for_its_capacity(name):
    """As many tokens as the cache may hold decide, not as many as the call has."""
    scaling = {"dynamic": ma.dynamic(4.0, 8), "longrope": ma.longrope((1.0,) * 3, (3.0,) * 3, 8)}
    part = m.attention(position=m.rotary(scaling=scaling[name]))
    model = m.decoder(m.block([part, m.glu()], m.rms_norm()))
    weights = stress_weights(model)
    tokens = torch.randint(0, 29, (2, 12))

    def logits(length, capacity=None):
        given = Inputs(tokens=tokens[:, :length], capacity=capacity)
        return run(model, weights, given).outputs["logits"]

    assert torch.equal(logits(5), logits(5, 8))
    assert gap(logits(5, 12), logits(12)[:, :5]) < LIFTED
    assert gap(logits(5), logits(12)[:, :5]) > 1e-3


def test_capacities_that_do_not_fit():
    model = m.decoder(m.block([m.attention(), m.glu()], m.rms_norm()))
    weights, tokens = stress_weights(model), torch.randint(0, 29, (2, 5))
    with pytest.raises(ValueError, match="5 tokens, but the cache has room for 4"):
        run(model, weights, Inputs(tokens=tokens, capacity=4))
    with pytest.raises(ValueError, match="no cache"):
        run(replace(model, cache=False), weights, Inputs(tokens=tokens, capacity=8))
