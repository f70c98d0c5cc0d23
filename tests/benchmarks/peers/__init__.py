"""The libraries that a generated file is timed against, each behind the same few methods."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from types import MappingProxyType

from tests.benchmarks.peers.library import Library
from tests.benchmarks.peers.lightning import LitGpt
from tests.benchmarks.peers.ours import Ours
from tests.benchmarks.peers.peer import Decoding, Peer
from tests.benchmarks.peers.plain import Plain
from tests.benchmarks.peers.x import X
from tests.benchmarks.shapes import GPT2, LLAMA

__all__ = ["BY_FAMILY", "PEERS", "UNFIT", "Decoding", "Peer", "absent", "versions"]

PEERS: Mapping[str, type[Peer]] = MappingProxyType(
    {each.name: each for each in (Ours, Library, LitGpt, X, Plain)}
)
BY_FAMILY: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        GPT2: (Ours.name, Library.name, X.name, Plain.name),
        LLAMA: (Ours.name, Library.name, LitGpt.name, X.name),
    }
)
UNFIT = MappingProxyType(
    {
        (GPT2, LitGpt.name): "it has no learned positions",
        (LLAMA, Plain.name): "it has no rotary positions, no RMSNorm and no gated feed-forward",
    }
)


def absent() -> tuple[str, ...]:
    """The peers whose package is not installed."""
    return tuple(name for name, found in versions().items() if found is None)


def versions() -> dict[str, str | None]:
    """The version of every peer's package; None where it is not installed."""
    return {name: _version(peer.package) for name, peer in PEERS.items() if peer.package}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
