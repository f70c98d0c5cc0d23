"""Models of transformers with tiny random weights, and our specs of them with the same numbers.

The specs are YAML, so that lowering is under test too; the numbers of the foreign configs are
written out, not taken from the specs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest
import torch
import transformers as hf
from torch import Tensor, nn

from specc.pipeline import read_model
from specc.render import render
from specc.verify.loading import loaded
from tests.golden.compare import gap, lift, shake
from tests.golden.foreign import GPT2_NAMES, LLAMA_NAMES, SANDWICH_NAMES, transposed
from tests.golden.test_against_transformers import BERT_NAMES, BLOOM_NAMES, LLAMA3_CONFIG

VOCAB, LENGTH = 41, 9
SIZES = {"vocab_size": VOCAB, "hidden_size": 24, "num_hidden_layers": 2}
Converted = Callable[[str, Tensor], dict[str, Tensor]]


@dataclass(frozen=True)
class Foreign:
    """A foreign model, our spec of it, and how its names become ours."""

    build: Callable[[], Any]
    spec: str
    names: dict[str, str]
    convert: Converted = lambda name, w: {name: w}
    limit: float = 1e-12


def split_by_head(n_heads: int) -> Converted:
    """Rows of q, k and v that lie head by head, as three matrices."""

    def convert(name: str, w: Tensor) -> dict[str, Tensor]:
        if "qkv_proj" not in name:
            return {name: w}
        rows = w.reshape(n_heads, 3, -1, *w.shape[1:])
        parts = {part: rows[:, i].flatten(0, 1) for i, part in enumerate("qkv")}
        return {name.replace("qkv", part): rows for part, rows in parts.items()}

    return convert


NEOX_NAMES = {
    r"^gpt_neox\.embed_in": "embedding",
    r"^gpt_neox\.final_layer_norm": "norm",
    r"^gpt_neox\.layers": "layers",
    "^embed_out": "head",
    "^lm_head": "head",
    "input_layernorm": "attention_norm",
    "post_attention_layernorm": "feed_forward_norm",
    r"attention\.query_key_value": "attention.qkv_proj",
    r"attention\.dense": "attention.o_proj",
    r"mlp\.dense_h_to_4h": "feed_forward.up_proj",
    r"mlp\.dense_4h_to_h": "feed_forward.down_proj",
}
OPT_NAMES = {
    r"^model\.decoder\.embed_tokens": "embedding",
    r"^model\.decoder\.embed_positions": "position_embedding",
    r"^model\.decoder\.final_layer_norm": "norm",
    r"^model\.decoder\.layers": "layers",
    "self_attn_layer_norm": "attention_norm",
    "final_layer_norm": "feed_forward_norm",
    r"self_attn\.out_proj": "attention.o_proj",
    "self_attn": "attention",
    "fc1": "feed_forward.up_proj",
    "fc2": "feed_forward.down_proj",
}
DECODER = "specc: 1\nname: small\nvocab_size: 41\nd_model: 24\nn_layers: 2\n"
LLAMA = {
    **SIZES,
    "intermediate_size": 40,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": LENGTH,
    "pad_token_id": None,
}

FOREIGN = {
    "gpt2": Foreign(
        lambda: hf.GPT2LMHeadModel(
            hf.GPT2Config(vocab_size=VOCAB, n_embd=24, n_layer=2, n_head=4, n_positions=LENGTH)
        ),
        DECODER + """
style: decoder, pre-norm, layer norm, learned positions, tied weights, GELU tanh, biases
max_seq_len: 9
norm: {eps: 1e-5}
attention: {n_heads: 4, projection: fused}
feed_forward: {d_ff: 4 * d_model}
""",
        GPT2_NAMES,
        transposed,
    ),
    "llama": Foreign(
        lambda: hf.LlamaForCausalLM(
            hf.LlamaConfig(
                **LLAMA,
                rms_norm_eps=1e-5,
                rope_parameters=LLAMA3_CONFIG | {"rope_theta": 500000.0},
                tie_word_embeddings=True,
            )
        ),
        DECODER + """
style: decoder, pre-norm, rms norm, rotary, SwiGLU, no bias, tied weights
max_seq_len: 9
norm: {eps: 1e-5}
position:
  theta: 500000
  scaling:
    llama3: {factor: 8, low_freq_factor: 1, high_freq_factor: 4, original_max_seq_len: 256}
attention: {n_heads: 4, n_kv_heads: 2}
feed_forward: {d_ff: 40}
""",
        LLAMA_NAMES,
    ),
    "gemma3": Foreign(
        lambda: hf.Gemma3ForCausalLM(
            hf.Gemma3TextConfig(
                **LLAMA | {"num_hidden_layers": 5},
                head_dim=10,
                query_pre_attn_scalar=16,
                sliding_window=4,
                layer_types=["sliding_attention"] * 2
                + ["full_attention"]
                + ["sliding_attention"] * 2,
                rope_parameters={
                    "sliding_attention": {"rope_type": "default", "rope_theta": 100.0},
                    "full_attention": {"rope_type": "default", "rope_theta": 5000.0},
                },
                attn_implementation="eager",
            )
        ),
        DECODER.replace("n_layers: 2", "n_layers: 5") + """
style: decoder, sandwich-norm, rms norm, rotary, no bias, tied weights
max_seq_len: 9
norm: {weight: one_plus_w, cast: after_weight}
embedding: {scale: sqrt_d_model}
attention: {n_heads: 4, n_kv_heads: 2, head_dim: 10, scale: {inv_sqrt: 16}, qk_norm: {over: head}}
feed_forward: {kind: glu, activation: gelu_tanh, d_ff: 40}
layers:
  pattern: [near, near, far]
  types:
    near: {position: {theta: 100}, attention: {window: 4}}
    far: {position: {theta: 5000}}
""",
        SANDWICH_NAMES,
    ),
    "neox": Foreign(
        lambda: hf.GPTNeoXForCausalLM(
            hf.GPTNeoXConfig(
                **SIZES | {"hidden_size": 36},
                intermediate_size=48,
                num_attention_heads=2,
                max_position_embeddings=LENGTH,
                rope_parameters={
                    "rope_type": "default",
                    "rope_theta": 10000.0,
                    "partial_rotary_factor": 0.25,
                },
                tie_word_embeddings=False,
            )
        ),
        DECODER.replace("d_model: 24", "d_model: 36") + """
style: decoder, parallel, layer norm, rotary, untied, GELU, biases
max_seq_len: 9
norm: {eps: 1e-5}
block: {norm_placement: pre}
position: {fraction: 0.25}  # 4.5 of 18 features: 4
attention: {n_heads: 2}
feed_forward: {d_ff: 48}
""",
        NEOX_NAMES,
        split_by_head(2),
    ),
    "opt": Foreign(
        lambda: hf.OPTForCausalLM(
            hf.OPTConfig(
                **SIZES,
                ffn_dim=40,
                num_attention_heads=4,
                max_position_embeddings=LENGTH,
                word_embed_proj_dim=24,
            )
        ),
        DECODER + """
style: decoder, pre-norm, layer norm, learned positions, tied weights, ReLU, biases
max_seq_len: 9
norm: {eps: 1e-5}
position: {offset: 2}
attention: {n_heads: 4}
feed_forward: {d_ff: 40}
""",
        OPT_NAMES,
    ),
    "bloom": Foreign(
        lambda: hf.BloomForCausalLM(
            hf.BloomConfig(vocab_size=VOCAB, hidden_size=24, n_layer=2, n_head=6)
        ),
        DECODER + """
style: decoder, pre-norm, layer norm, ALiBi, tied weights, GELU tanh, biases
norm: {eps: 1e-5}
embedding: {norm: true}
attention: {n_heads: 6}
feed_forward: {d_ff: 4 * d_model}
""",
        BLOOM_NAMES,
        split_by_head(6),
        limit=1e-8,  # its tanh form writes sqrt(2 / pi) as 0.79788456
    ),
    "bert": Foreign(
        lambda: hf.BertForPreTraining(
            hf.BertConfig(
                **SIZES,
                num_attention_heads=4,
                intermediate_size=40,
                max_position_embeddings=LENGTH,
                type_vocab_size=3,
            )
        ),
        DECODER + """
style: encoder, post-norm, layer norm, learned positions, GELU, biases
max_seq_len: 9
norm: {eps: 1e-12}
embedding: {types: 3, norm: true}
attention: {n_heads: 4}
feed_forward: {d_ff: 40}
head:
  - {kind: masked_language_model, tied: true, bias: true, activation: gelu_erf}
  - {kind: classifier, pool: first, pooler: tanh, n_classes: 2}
""",
        BERT_NAMES | {r"^cls\.seq_relationship": "class_logits"},
    ),
}


@contextmanager
def in_float64() -> Iterator[None]:
    """Foreign models compute all of it in float64, also what asks for float32."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    with pytest.MonkeyPatch.context() as patch:
        lift(patch)
        yield
    torch.set_default_dtype(before)


def foreign_gap(name: str) -> float:
    """The largest relative gap between the generated file's logits and the foreign model's."""
    case = FOREIGN[name]
    torch.manual_seed(0)
    with in_float64():
        module = case.build().eval()
        weights = _converted(case, module)
        tokens = torch.randint(0, VOCAB, (3, LENGTH))
        real = torch.arange(LENGTH)[None] >= torch.tensor([0, 3, 6])[:, None]
        real = real.flip(-1) if name == "bert" else real  # its class is read off column 0
        with torch.no_grad():
            theirs = _theirs(module, name, tokens, real)
    ours = _ours(case.spec, weights, name, tokens, real)
    pairs = zip(ours, theirs, strict=True)
    return max(gap(*(x[real] if x.dim() == 3 else x for x in pair)) for pair in pairs)


def _converted(case: Foreign, module: nn.Module) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, w in shake(module).items():
        for pattern, ours in case.names.items():
            name = re.sub(pattern, ours, name)
        found |= case.convert(name, w.double())
    return found


def _theirs(module: Any, name: str, tokens: Tensor, real: Tensor) -> list[Tensor]:
    if name == "bert":
        found = module(tokens, real.long(), _types(tokens), position_ids=_places(real))
        return [found.prediction_logits, found.seq_relationship_logits]
    given = {} if name == "bloom" else {"position_ids": _places(real)}
    if name == "opt":
        given = {}  # it counts real tokens itself
    return [module(tokens, attention_mask=real.long(), **given).logits]


def _ours(
    spec: str, weights: dict[str, Tensor], name: str, tokens: Tensor, real: Tensor
) -> list[Tensor]:
    model = read_model(text=spec)
    with loaded(render(model), model.name) as file, torch.no_grad():
        live: Any = file.model_class().double().eval()
        live.reset_parameters()
        live.load_state_dict(weights)
        if name == "bert":
            return list(live(tokens, real, _types(tokens)))
        return [live(tokens, real)]


def _places(real: Tensor) -> Tensor:
    return (real.cumsum(-1) - 1).clamp(min=0)


def _types(tokens: Tensor) -> Tensor:
    return tokens % 3
