"""The generated file."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from tests.benchmarks.peers.peer import Decoding
from tests.benchmarks.shapes import names_in


class Ours(Decoding):
    """The file under its own `Config`."""

    name = "specc"
    package = ""

    def build(self) -> nn.Module:
        names = names_in(self.shape.file)
        config = names["Config"](**self.shape.numbers)
        live: nn.Module = names[self.shape.model.class_name](config)
        live.load_state_dict(self.shape.weights)
        return live

    def logits(self, live: nn.Module, tokens: Tensor) -> Tensor:
        found: Tensor = live(tokens)
        return found

    def begin(self, live: nn.Module, tokens: Tensor, room: int, compiled: bool) -> Any:
        cache = live.new_cache(tokens.size(0), room)
        live(tokens, cache=cache)
        return cache

    def step(self, live: nn.Module, cache: Any, token: Tensor) -> tuple[Tensor, Any]:
        return live(token, cache=cache, last_only=True), cache

    def rewind(self, cache: Any, length: int) -> None:
        cache.length = length

    def script(self) -> str:
        made = f"{self.shape.model.class_name}(Config(**{dict(self.shape.numbers)!r}))"
        return (
            f"from {self.shape.file.stem} import Config, {self.shape.model.class_name}\n"
            f"model = {made}.eval()\n"
            "model(tokens)\n"
        )
