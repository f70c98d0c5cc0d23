"""Methods that every generated model has beside forward, typed: what `nn.Module` cannot promise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, cast

from torch import Tensor, nn


class Cache(Protocol):
    """What `new_cache` gives."""

    length: int
    capacity: int


class Resettable(Protocol):
    """A model that can fill its weights and tables."""

    def reset_parameters(self) -> None:
        """Fill them all."""


class Caching(Protocol):
    """A model that decodes step by step."""

    def new_cache(self, batch: int, capacity: int) -> Cache:
        """Make room."""


class Translating(Protocol):
    """An encoder-decoder."""

    def encode(self, source: Tensor, source_mask: Tensor | None) -> Tensor:
        """The memory."""

    def decode(
        self,
        target: Tensor,
        memory: Tensor,
        source_mask: Tensor | None,
        target_mask: Tensor | None,
        cache: Cache | None,
    ) -> object:
        """What forward returns."""


class Generating(Protocol):
    """A model that continues texts."""

    def generate(self, *, max_new_tokens: int, **given: Any) -> Tensor:  # noqa: ANN401
        """All tokens, old and new."""

    def stream(self, *, max_new_tokens: int, **given: Any) -> Iterator[Tensor]:  # noqa: ANN401
        """New tokens, step by step."""


def reset(live: nn.Module) -> None:
    """Fill all weights and tables anew."""
    cast(Resettable, live).reset_parameters()


def new_cache(live: nn.Module, batch: int, capacity: int) -> Cache:
    """Room for `capacity` tokens of `batch` rows."""
    return cast(Caching, live).new_cache(batch, capacity)


def translating(live: nn.Module) -> Translating:
    """The model as an encoder-decoder."""
    return cast(Translating, live)


def generating(live: nn.Module) -> Generating:
    """The model as one that continues texts."""
    return cast(Generating, live)
