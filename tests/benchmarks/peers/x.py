"""x-transformers: a decoder with the same sizes, and a cache that grows by concatenation."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from tests.benchmarks.peers.peer import Decoding
from tests.benchmarks.shapes import GPT2


class X(Decoding):
    """`TransformerWrapper` around `Decoder`; it lacks the biases of GPT-2's attention and norms."""

    name = "x-transformers"
    package = "x-transformers"

    def build(self) -> nn.Module:
        from x_transformers import Decoder, TransformerWrapper

        outer, inner = self._arguments()
        if self._is_gpt2:
            inner["ff_custom_activation"] = nn.GELU(approximate="tanh")
        live: nn.Module = TransformerWrapper(**outer, attn_layers=Decoder(**inner))
        self._fill(live)
        return live

    def logits(self, live: nn.Module, tokens: Tensor) -> Tensor:
        found: Tensor = live(tokens)
        return found

    def begin(self, live: nn.Module, tokens: Tensor, room: int, compiled: bool) -> Any:
        return live(tokens, return_intermediates=True)[1]

    def step(self, live: nn.Module, cache: Any, token: Tensor) -> tuple[Tensor, Any]:
        found = live(token, cache=cache, return_intermediates=True, input_not_include_cache=True)
        return found[0], found[1]

    def rewind(self, cache: Any, length: int) -> None:
        """A step leaves the cache that it is given as it was."""

    def script(self) -> str:
        outer, inner = self._arguments()
        more = ', ff_custom_activation=nn.GELU(approximate="tanh")' if self._is_gpt2 else ""
        return (
            "from torch import nn\nfrom x_transformers import Decoder, TransformerWrapper\n"
            f"layers = Decoder(**{inner!r}{more})\n"
            f"model = TransformerWrapper(**{outer!r}, attn_layers=layers).eval()\n"
            "model(tokens)\n"
        )

    @property
    def _is_gpt2(self) -> bool:
        return self.shape.family == GPT2

    def _arguments(self) -> tuple[dict[str, Any], dict[str, Any]]:
        number = self.shape.number
        outer = {
            "num_tokens": number("vocab_size"),
            "max_seq_len": number("max_seq_len"),
            "tie_embedding": True,
            "tie_embedding_scale": 1.0,
        }
        inner = {
            "dim": number("d_model"),
            "depth": number("n_layers"),
            "heads": number("n_heads"),
            "attn_dim_head": number("head_dim"),
            "attn_flash": True,
            "ff_mult": number("d_ff") / number("d_model"),
        }
        if not self._is_gpt2:
            inner |= {
                "attn_kv_heads": number("n_kv_heads"),
                "use_rmsnorm": True,
                "rotary_pos_emb": True,
                "rotary_emb_dim": number("head_dim"),
                "ff_glu": True,
                "ff_swish": True,
            }
        return outer, inner

    def _fill(self, live: nn.Module) -> None:
        """Our weights into theirs; norms and biases of 1 and 0 stay as they are made."""
        ours, width = self.shape.weights, self.shape.number("d_model")
        state = live.state_dict()
        for name, tensor in state.items():
            if name.endswith("bias"):
                tensor.zero_()
        state["token_emb.emb.weight"].copy_(ours["embedding.weight"])
        if self._is_gpt2:  # theirs are scaled down where they are read
            state["pos_emb.emb.weight"].copy_(ours["position_embedding.weight"] * width**0.5)
        else:
            self._frequencies(live)
        for i in range(self.shape.number("n_layers")):
            self._fill_layer(state, i)

    def _fill_layer(self, state: dict[str, Tensor], i: int) -> None:
        ours, at = self.shape.weights, f"layers.{i}."
        attention, wide = f"attn_layers.layers.{2 * i}.1.", f"attn_layers.layers.{2 * i + 1}.1.ff."
        inside, output = ours[f"{at}attention.o_proj.weight"], f"{attention}to_out.weight"
        if self._is_gpt2:
            q, k, v = ours[f"{at}attention.qkv_proj.weight"].chunk(3)
            first = ours[f"{at}feed_forward.up_proj.weight"]
        else:
            q, k, v = (ours[f"{at}attention.{each}_proj.weight"] for each in "qkv")
            q, k = self._regrouped(self._neighbours(q)), self._neighbours(k)
            inside = self._regrouped(inside.T).T
            gate, up = (ours[f"{at}feed_forward.{each}_proj.weight"] for each in ("gate", "up"))
            first = torch.cat((up, gate))
        for name, tensor in zip("qkv", (q, k, v), strict=True):
            state[f"{attention}to_{name}.weight"].copy_(tensor)
        state[output].copy_(inside)
        state[f"{wide}0.{'0' if self._is_gpt2 else 'proj'}.weight"].copy_(first)
        last = "2" if f"{wide}2.weight" in state else "3"
        state[f"{wide}{last}.weight"].copy_(ours[f"{at}feed_forward.down_proj.weight"])

    def _neighbours(self, matrix: Tensor) -> Tensor:
        """Rows of halves that turn together become rows of neighbours."""
        head = self.shape.number("head_dim")
        halves = matrix.view(-1, 2, head // 2, matrix.size(1))  # [H, 2, E/2, D]
        return halves.transpose(1, 2).reshape(matrix.shape)

    def _regrouped(self, matrix: Tensor) -> Tensor:
        """Head h reads key head h % K there, h // (H/K) here: [H*E, D] -> [H*E, D]."""
        number = self.shape.number
        heads = matrix.reshape(number("n_kv_heads"), -1, number("head_dim"), matrix.size(1))
        return heads.transpose(0, 1).reshape(matrix.shape)

    def _frequencies(self, live: nn.Module) -> None:
        """Those that the generated file computes, for theirs cannot be stretched."""
        from tests.benchmarks.peers.ours import Ours

        table = Ours(self.shape).build().rotary
        angle = torch.atan2(table.sin[1], table.cos[1])  # of position 1: below pi
        live.attn_layers.rotary_pos_emb.inv_freq.copy_(angle)
