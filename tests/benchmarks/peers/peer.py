"""What the harness asks of a library: build it with our weights, run it, and decode with it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from torch import Tensor, nn

from tests.benchmarks.shapes import Shape


class Peer(ABC):
    """One way to have a model. Modules are given back to the methods: they may be compiled."""

    name: ClassVar[str]
    package: ClassVar[str]  # as it is installed; empty: torch or this project

    def __init__(self, shape: Shape) -> None:
        self.shape = shape

    @abstractmethod
    def build(self) -> nn.Module:
        """The model with the shape's weights."""

    @abstractmethod
    def logits(self, live: nn.Module, tokens: Tensor) -> Tensor:
        """All logits, without a cache: [B, T] -> [B, T, V]."""

    @abstractmethod
    def script(self) -> str:
        """Python that imports the library, builds the model with weights of its own, and runs it
        on `tokens`; what a fresh process is timed with.
        """


class Decoding(Peer):
    """One that has a cache."""

    @abstractmethod
    def begin(self, live: nn.Module, tokens: Tensor, room: int, compiled: bool) -> Any:
        """A cache for `room` tokens that has read these; `compiled`: the kind made for that."""

    @abstractmethod
    def step(self, live: nn.Module, cache: Any, token: Tensor) -> tuple[Tensor, Any]:
        """The logits after one more token, [1, 1] -> [1, 1, V], and the cache as it is then."""

    @abstractmethod
    def rewind(self, cache: Any, length: int) -> None:
        """Make the cache hold its first `length` tokens again."""
