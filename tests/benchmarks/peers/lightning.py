"""litgpt's one-file GPT, with its own cache of fixed room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from specc.importers.hf_configs import Facts, dialect_of
from tests.benchmarks.peers.peer import Decoding


@dataclass
class Place:
    """How many tokens stand in the module's cache, and whether calls are compiled."""

    length: int
    compiled: bool


class LitGpt(Decoding):
    """The class GPT under a `Config` that says our shape; the output matrix is the embedding."""

    name = "litgpt"
    package = "litgpt"

    def build(self) -> nn.Module:
        from litgpt import GPT, Config

        live: nn.Module = GPT(Config(**self._config()))
        live.lm_head.weight = live.transformer.wte.weight
        live.load_state_dict(self._weights())
        return live

    def logits(self, live: nn.Module, tokens: Tensor) -> Tensor:
        found: Tensor = live(tokens)
        return found

    def begin(self, live: nn.Module, tokens: Tensor, room: int, compiled: bool) -> Any:
        live.clear_kv_cache()
        live.max_seq_length = room
        live.set_kv_cache(batch_size=tokens.size(0))
        length = tokens.size(1)
        live(tokens, torch.arange(length), input_pos_maxp1=length)
        return Place(length, compiled)

    def step(self, live: nn.Module, cache: Any, token: Tensor) -> tuple[Tensor, Any]:
        """With the end said as litgpt's `generate` says it; its docs say not to when compiled."""
        at = torch.tensor([cache.length])
        cache.length += 1
        end = None if cache.compiled else cache.length
        return live(token, at, input_pos_maxp1=end), cache

    def rewind(self, cache: Any, length: int) -> None:
        cache.length = length

    def script(self) -> str:
        return (
            "from litgpt import GPT, Config\n"
            f"model = GPT(Config(**{self._config()!r})).eval()\n"
            "model.apply(model._init_weights)\n"
            "model.lm_head.weight = model.transformer.wte.weight\n"
            "model(tokens)\n"
        )

    def _config(self) -> dict[str, Any]:
        number, model = self.shape.number, self.shape.model
        rope = dialect_of(model).config(Facts(model))["rope_parameters"]
        return {
            "block_size": number("max_seq_len"),
            "n_layer": number("n_layers"),
            "n_embd": number("d_model"),
            "padded_vocab_size": number("vocab_size"),
            "vocab_size": number("vocab_size"),
            "n_head": number("n_heads"),
            "head_size": number("head_dim"),
            "n_query_groups": number("n_kv_heads"),
            "intermediate_size": number("d_ff"),
            "norm_class_name": "RMSNorm",
            "norm_eps": self.shape.numbers["norm_eps"],
            "mlp_class_name": "LLaMAMLP",
            "parallel_residual": False,
            "bias": False,
            "rotary_percentage": 1.0,
            "rope_base": int(rope["rope_theta"]),
            "rope_adjustments": {
                "factor": rope["factor"],
                "low_freq_factor": rope["low_freq_factor"],
                "high_freq_factor": rope["high_freq_factor"],
                "original_max_seq_len": rope["original_max_position_embeddings"],
            },
        }

    def _weights(self) -> dict[str, Tensor]:
        """Ours under litgpt's names; queries, keys and values in one matrix."""
        ours = self.shape.weights
        found = {
            "lm_head.weight": ours["embedding.weight"],
            "transformer.wte.weight": ours["embedding.weight"],
            "transformer.ln_f.weight": ours["norm.weight"],
        }
        for i in range(self.shape.number("n_layers")):
            old, new = f"layers.{i}.", f"transformer.h.{i}."
            attention, wide = f"{old}attention.", f"{old}feed_forward."
            qkv = [ours[f"{attention}{each}_proj.weight"] for each in "qkv"]
            found |= {
                f"{new}norm_1.weight": ours[f"{old}attention_norm.weight"],
                f"{new}attn.qkv.weight": torch.cat(qkv),
                f"{new}attn.proj.weight": ours[f"{attention}o_proj.weight"],
                f"{new}norm_2.weight": ours[f"{old}feed_forward_norm.weight"],
                f"{new}mlp.fc_1.weight": ours[f"{wide}gate_proj.weight"],
                f"{new}mlp.fc_2.weight": ours[f"{wide}up_proj.weight"],
                f"{new}mlp.proj.weight": ours[f"{wide}down_proj.weight"],
            }
        return found
