"""What a live forward pass hands to the operations that a training step's memory is counted by.

It knows nothing of the closed form: it watches torch's functions, and counts each tensor once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

ACTIVATIONS = {
    F.silu,
    F.gelu,
    F.relu,
    torch.tanh,
    torch.sigmoid,
    Tensor.sigmoid,
    F.normalize,
    Tensor.clamp,
}
PRODUCTS = {torch.matmul, Tensor.matmul, Tensor.__matmul__, F.linear}
MULTIPLIED = {torch.mul, Tensor.mul, Tensor.__mul__}


class Recorder(TorchFunctionMode):
    """Records tensors by place in memory; `masks` and `queries` are numbers of values."""

    def __init__(self, live: nn.Module) -> None:
        super().__init__()
        self.own = {tensor.untyped_storage().data_ptr() for tensor in live.parameters()}
        self.ups = {
            part.up_proj.untyped_storage().data_ptr()
            for part in live.modules()
            if isinstance(vars(part).get("_parameters", {}).get("up_proj"), nn.Parameter)
            and not hasattr(part, "limit")  # a clamp says itself what it is given
        }
        self.seen: dict[tuple[int, int, int], Tensor] = {}
        self.gates: set[int] = set()
        self.masks = self.queries = 0
        self.inside = 0  # norms and helpers that are counted by what they are given

    def record(self, *tensors: object) -> None:
        for tensor in tensors:
            if not isinstance(tensor, Tensor) or tensor.dim() < 2:
                continue
            storage = tensor.untyped_storage().data_ptr()
            if tensor.is_floating_point() and not self.inside and storage not in self.own:
                self.seen[storage, tensor.storage_offset(), tensor.numel()] = tensor

    @property
    def numbers(self) -> int:
        whole = {p for p, _, n in self.seen if n == self._size(p)}
        parts = sum(n for p, _, n in self.seen if p not in whole)
        return parts + sum(self._size(p) for p in whole)

    def _size(self, storage: int) -> int:
        found = next(tensor for (p, _, _), tensor in self.seen.items() if p == storage)
        return found.untyped_storage().nbytes() // found.element_size()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if func in PRODUCTS:
            self.record(*args[:2])
            is_up = isinstance(args[1], Tensor) and args[1].untyped_storage().data_ptr() in self.ups
            self.record(made if is_up else None)
        elif func in ACTIVATIONS:
            self.record(args[0])
            if func is torch.sigmoid:
                self.gates.add(id(made))
                self.record_later = made  # keeps its id its own
        elif func is F.scaled_dot_product_attention:
            self.record(*args[:3])
            self.queries += args[0].numel() // args[0].size(-1)
        elif func in (Tensor.softmax, F.softmax) and args[0].dim() == 2:
            self.record(args[0])
        elif func is F.dropout and live_dropout(*args[1:], **(kwargs or {})):
            self.masks += args[0].numel()
            self.record(args[0] if args[0].dim() == 4 else None)
        elif func in MULTIPLIED and isinstance(args[1], Tensor):
            self._multiplied(args[0], args[1])
        return made

    def _multiplied(self, factor: Tensor, other: Tensor) -> None:
        """Products of two features, and learned gains; constants leave nothing."""
        if isinstance(other, nn.Parameter):
            factor, other = other, factor
        is_gain = factor.dim() == 1 and factor.requires_grad
        weighs = factor.dim() == other.dim() == 2 and factor.size(1) == 1
        if is_gain or weighs or id(factor) in self.gates:
            self.record(other)
        elif other.requires_grad and other.shape[1:] == (1, 1):
            self.record(factor)  # a temperature a head


def live_dropout(p: float, training: bool, inplace: bool = False) -> bool:
    return training and p > 0


@contextmanager
def recording(live: nn.Module, module: ModuleType) -> Iterator[Recorder]:
    """Watch a model of this module while it runs."""
    recorder = Recorder(live)
    hooks = [hook for part in live.modules() for hook in _hooks(recorder, part)]
    helper = vars(module).get("clamped_glu")

    def clamped_glu(gate: Tensor, up: Tensor, *rest: float) -> Tensor:
        recorder.record(gate, up)
        recorder.inside += 1
        made = helper(gate, up, *rest)
        recorder.inside -= 1
        return made

    if helper is not None:
        module.clamped_glu = clamped_glu
    try:
        with recorder:
            yield recorder
    finally:
        if helper is not None:
            module.clamped_glu = helper
        for hook in hooks:
            hook.remove()


def _hooks(recorder: Recorder, part: nn.Module) -> Iterator[torch.utils.hooks.RemovableHandle]:
    name = type(part).__name__
    if name.endswith("Norm"):
        yield part.register_forward_pre_hook(lambda _, args: _enter(recorder, args))
        yield part.register_forward_hook(lambda *_: _leave(recorder))
    children = dict(part.named_children())
    if {"gate_proj", "up_proj"} <= children.keys():
        yield children["up_proj"].register_forward_hook(lambda _, __, up: recorder.record(up))


def _enter(recorder: Recorder, args: tuple[Tensor, ...]) -> None:
    recorder.record(args[0])
    recorder.inside += 1


def _leave(recorder: Recorder) -> None:
    recorder.inside -= 1
