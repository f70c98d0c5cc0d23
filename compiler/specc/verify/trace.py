"""Records what every module of a live model gives, and each SDPA call, under golden's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from unittest.mock import patch

from torch import Tensor, nn
from torch.nn import functional

from specc.verify.metrics import relative_error


@contextmanager
def recorded(live: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Path -> output of each module that runs in the context; "path:q", "path:k" for attention."""
    trace: dict[str, Tensor] = {}
    running: list[str] = []
    hooks = []
    for path, module in live.named_modules():
        if path:
            hooks.append(module.register_forward_pre_hook(_entering(running, path)))
            hooks.append(module.register_forward_hook(_leaving(running, trace, path)))
    attend = functional.scaled_dot_product_attention

    def watched(
        query: Tensor, key: Tensor, value: Tensor, *rest: object, **named: object
    ) -> Tensor:
        path = running[-1] if running else ""
        _note(trace, f"{path}:q", query)
        _note(trace, f"{path}:k", key)
        heads: Tensor = attend(query, key, value, *rest, **named)  # type: ignore[arg-type]
        _note(trace, f"{path}:heads", heads)
        return heads

    try:
        with patch.object(functional, "scaled_dot_product_attention", watched):
            yield trace
    finally:
        for hook in hooks:
            hook.remove()


@dataclass(frozen=True)
class Passed:
    """What a module was given and what it made of it."""

    given: Tensor
    output: Tensor


@contextmanager
def traffic(live: nn.Module) -> Iterator[dict[str, Passed]]:
    """Path -> last input and output of each module that takes and gives one tensor."""
    seen: dict[str, Passed] = {}
    hooks = [
        module.register_forward_hook(_passing(seen, path))
        for path, module in live.named_modules()
        if isinstance(module, nn.Linear | nn.Dropout)
    ]
    try:
        yield seen
    finally:
        for hook in hooks:
            hook.remove()


def _passing(
    seen: dict[str, Passed], path: str
) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
    def hook(_module: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> None:
        seen[path] = Passed(given[0], output)

    return hook


def _entering(running: list[str], path: str) -> Callable[[nn.Module, object], None]:
    def hook(_module: nn.Module, _given: object) -> None:
        running.append(path)

    return hook


def _leaving(
    running: list[str], trace: dict[str, Tensor], path: str
) -> Callable[[nn.Module, object, object], None]:
    def hook(_module: nn.Module, _given: object, output: object) -> None:
        running.pop()
        if isinstance(output, Tensor):
            _note(trace, path, output)

    return hook


def _note(trace: dict[str, Tensor], path: str, value: Tensor) -> None:
    key, calls = path, 1
    while key in trace:
        calls += 1
        key = f"{path}#{calls}"
    trace[key] = value.detach()


def first_difference(
    found: Mapping[str, Tensor], wanted: Mapping[str, Tensor], limit: float
) -> str | None:
    """The first part, in golden's order, whose values lie further apart than the limit."""
    for path, tensor in wanted.items():
        if path not in found or found[path].shape != tensor.shape:
            continue
        error = relative_error(found[path], tensor)
        if error > limit:
            return f"{path} ({error:.1e})"
    return None
