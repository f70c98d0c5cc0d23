"""transformers' models with tiny random weights beside our IRs of them, names mapped by hand.

These models compute some parts in float32 whatever their dtype. Two comparisons are made: as they
are, in float32 (the tolerance is that of float32), and in float64 with those islands lifted, where
only the last digits are left.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import torch
import transformers as hf
from torch import Tensor

from specc.golden import Inputs, run
from specc.ir.layers import Norm
from specc.ir.model import Kind, Model
from specc.ir.walk import resize
from tests.golden import models as m
from tests.golden.compare import gap, shake

AS_IT_IS = 5e-6  # float32 sums in another order, relative to the largest logit
LIFTED = 1e-12
SIZES = {"vocab_size": m.VOCAB.value, "hidden_size": m.D_MODEL.value, "num_hidden_layers": 2}
LLAMA_SIZES = SIZES | {
    "intermediate_size": m.D_FF.value,
    "num_attention_heads": m.N_HEADS.value,
    "num_key_value_heads": m.N_KV_HEADS.value,
    "head_dim": m.HEAD_DIM.value,
    "max_position_embeddings": m.LENGTH.value,
    "pad_token_id": None,
    "attn_implementation": "sdpa",
}
GPT2_SIZES = {
    "vocab_size": m.VOCAB.value,
    "n_embd": m.D_MODEL.value,
    "n_layer": 2,
    "n_positions": m.LENGTH.value,
    "n_inner": m.D_FF.value,
}
WIDE = 24  # n_heads * head_dim, for models whose heads share out d_model
LLAMA_NAMES = {
    r"^model\.embed_tokens": "embedding",
    r"^model\.(norm|layers)": r"\1",
    "^lm_head": "head",
    "self_attn": "attention",
    "mlp": "feed_forward",
    "input_layernorm": "attention_norm",
    "post_attention_layernorm": "feed_forward_norm",
}
GPT2_NAMES = {
    r"^transformer\.wte": "embedding",
    r"^transformer\.wpe": "position_embedding",
    r"^transformer\.ln_f": "norm",
    r"^transformer\.h": "layers",
    "^lm_head": "head",
    r"ln_1": "attention_norm",
    r"ln_2": "feed_forward_norm",
    r"attn\.c_attn": "attention.qkv_proj",
    r"attn\.c_proj": "attention.o_proj",
    r"mlp\.(c_fc|fc_in)": "feed_forward.up_proj",
    r"mlp\.(c_proj|fc_out)": "feed_forward.down_proj",
}
SANDWICH_NAMES = LLAMA_NAMES | {
    "post_attention_layernorm": "attention_post_norm",
    "pre_feedforward_layernorm": "feed_forward_norm",
    "post_feedforward_layernorm": "feed_forward_post_norm",
}

Converted = dict[str, Tensor]


def unchanged(name: str, w: Tensor) -> Converted:
    return {name: w}


def transposed(name: str, w: Tensor) -> Converted:
    """GPT-2 stores its matrices [inputs, outputs]."""
    is_matrix = "proj.weight" in name
    return {name: w.T if is_matrix else w}


@dataclass(frozen=True)
class Case:
    """A foreign model, our IR of it, and how its names become ours."""

    build: Callable[[], Any]
    ir: Callable[[], Model]
    names: dict[str, str]
    convert: Callable[[str, Tensor], Converted] = unchanged
    columns: bool = False  # positions are columns, padding counted
    pads: tuple[int, ...] = (0, 3, 6)  # padding before each row
    length: int = 9
    lifted_gap: float = LIFTED
    as_it_is: float = AS_IT_IS

    def check(self, lifted: bool) -> None:
        found, expected = both(self)
        assert gap(found, expected) < (self.lifted_gap if lifted else self.as_it_is)


def both(case: Case) -> tuple[Tensor, Tensor]:
    """Our logits and theirs of the real tokens of a left-padded batch."""
    module = case.build().eval()
    weights = mapped(case, module)
    tokens, real = padded(case.pads, case.length)
    given = {"attention_mask": real.long()}
    if "position_ids" in signature(module.forward).parameters and not case.columns:
        given["position_ids"] = (real.cumsum(-1) - 1).clamp(min=0)
    with torch.no_grad():
        expected = module(tokens, **given).logits
    found = run(case.ir(), weights, Inputs(tokens=tokens, token_mask=real)).outputs["logits"]
    return found[real], expected[real]


def padded(pads: tuple[int, ...] = (0, 3, 6), length: int = 9) -> tuple[Tensor, Tensor]:
    tokens = torch.randint(0, m.VOCAB.value, (len(pads), length))
    return tokens, torch.arange(length)[None] >= torch.tensor(pads)[:, None]


def mapped(case: Case, module: torch.nn.Module) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for name, w in shake(module).items():
        for pattern, ours in case.names.items():
            name = re.sub(pattern, ours, name)
        found |= case.convert(name, w.double())
    return stacked(found)


def stacked(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """`q_norm.0`, `q_norm.1`, ... as the rows of one `q_norm.weight`."""
    found: dict[str, Tensor] = {}
    for name, w in weights.items():
        whole, _, index = name.rpartition(".")
        if index.isdigit():
            name = f"{whole}.weight"
            w = torch.cat([*([found[name]] if name in found else []), w[None]])
        found[name] = w
    return found


def hf_model(name: str, sizes: dict[str, Any] | None = None, **more: Any) -> Callable[[], Any]:
    """Builds NameForCausalLM from NameConfig; LLAMA_SIZES if no sizes are given."""

    def build() -> Any:
        given = (LLAMA_SIZES if sizes is None else sizes) | more
        head = name.removesuffix("Text")
        return getattr(hf, f"{head}ForCausalLM")(getattr(hf, f"{name}Config")(**given))

    return build


def decoder(
    bodies: Sequence[Any],
    norm: Norm,
    *,
    inputs: Any = None,
    final: bool = True,
    tied: bool = True,
    bias: bool = False,
    **wiring: Any,
) -> Model:
    return of_blocks(
        [m.block(bodies, norm, **wiring)], norm, inputs=inputs, final=final, tied=tied, bias=bias
    )


def of_blocks(
    blocks: Sequence[Any],
    norm: Norm,
    *,
    inputs: Any = None,
    final: bool = True,
    tied: bool = False,
    bias: bool = False,
) -> Model:
    given = inputs or m.token_input()
    part = m.stack(given, blocks, final_norm=norm if final else None)
    head = m.tied_head(given) if tied else m.untied_head(bias)
    return m.model(Kind.DECODER, [part], [head])


def widened(model: Model, **more: int) -> Model:
    """The same model where the heads together are as wide as the features."""
    return resize(model, {"d_model": WIDE} | more)
