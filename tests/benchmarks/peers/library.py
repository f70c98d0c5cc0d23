"""transformers, with its fast attention and, where it is compiled, its static cache."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor, nn

from specc.convert import to_theirs
from specc.importers.hf_configs import Facts, dialect_of
from specc.importers.layouts import LAYOUTS
from tests.benchmarks.peers.peer import Decoding


@dataclass
class Held:
    """A cache of the library and how many tokens it holds."""

    cache: Any
    length: int


class Library(Decoding):
    """The class that the spec's dialect names, given the converted weights."""

    name = "transformers"
    package = "transformers"

    def build(self) -> nn.Module:
        import torch

        from specc.verify.against.library import build, quiet_library

        model = self.shape.model
        dialect = replace(dialect_of(model), attention="sdpa")
        sent = to_theirs(model, LAYOUTS[dialect.layout], self.shape.weights)
        with quiet_library():
            live: nn.Module = build(model, dialect, sent.tensors, torch.float32).module
        for module in live.modules():
            if isinstance(module, nn.Dropout):  # no config of ours says 0
                module.p = 0.0
        return live

    def logits(self, live: nn.Module, tokens: Tensor) -> Tensor:
        found: Tensor = live(tokens, use_cache=False).logits
        return found

    def begin(self, live: nn.Module, tokens: Tensor, room: int, compiled: bool) -> Any:
        from transformers import DynamicCache, StaticCache

        kind = StaticCache if compiled else DynamicCache
        more = {"max_cache_len": room} if compiled else {}
        cache = kind(config=live.config, **more)
        live(tokens, past_key_values=cache, use_cache=True)
        return Held(cache, tokens.size(1))

    def step(self, live: nn.Module, cache: Any, token: Tensor) -> tuple[Tensor, Any]:
        cache.length += 1
        return live(token, past_key_values=cache.cache, use_cache=True).logits, cache

    def rewind(self, cache: Any, length: int) -> None:
        cache.cache.crop(length - cache.length)
        cache.length = length

    def script(self) -> str:
        model = self.shape.model
        written = dict(dialect_of(model).config(Facts(model)))
        (name,) = written.pop("architectures")
        kind = f"{name.removesuffix('LMHeadModel').removesuffix('ForCausalLM')}Config"
        return (
            f"from transformers import {kind}, {name}\n"
            f"model = {name}({kind}(**{written!r})).eval()\n"
            "model(tokens, use_cache=False)\n"
        )
