"""What every part of a run carries along: weights below its path, trace, dropped site."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from torch import Tensor

from specc.golden.norms import norm
from specc.ir.layers import Dropout, DropoutSite, LayerNorm, Linear, Norm, NormWeight


@dataclass(frozen=True)
class Scope:
    """The view from one module path. `trace` is shared by all scopes of a run and grows with it."""

    weights: Mapping[str, Tensor]
    trace: dict[str, Tensor]
    dropped: DropoutSite | None
    path: str = ""
    layer: int = 1  # the number of the layer that the path lies in, from 1

    def inside(self, name: str) -> Scope:
        """The scope of a module below this one."""
        return replace(self, path=self.name_of(name))

    def name_of(self, name: str) -> str:
        """The whole path of a name below this one."""
        return f"{self.path}.{name}" if self.path else name

    def weight(self, name: str) -> Tensor:
        """The weight of that name below this path."""
        return self.weights[self.name_of(name)]

    def note(self, name: str, value: Tensor) -> Tensor:
        """Record a module's output and hand it on. A module's second call is noted as `name#2`."""
        key, call = self.name_of(name), 1
        while (key if call == 1 else f"{key}#{call}") in self.trace:
            call += 1
        self.trace[key if call == 1 else f"{key}#{call}"] = value
        return value

    def note_inner(self, name: str, value: Tensor) -> Tensor:
        """Record a value that this module computes on its way, as `path:name`."""
        self.trace[f"{self.path}:{name}"] = value
        return value

    def drop(self, part: Dropout | None, x: Tensor) -> Tensor:
        """x, or zeros (with their zero gradient) at the dropped site."""
        return x * 0 if part is not None and part.site is self.dropped else x

    def linear(self, part: Linear, x: Tensor) -> Tensor:
        """x W^T + b."""
        y = x @ self.weight(f"{part.name}.weight").T
        if part.bias:
            y = y + self.weight(f"{part.name}.bias")
        return self.note(part.name, y)

    def unnoted_norm(self, part: Norm, x: Tensor) -> Tensor:
        """The norm of x with its weights from here, left out of the trace."""
        weight = None if part.weight is NormWeight.NONE else self.weight(f"{part.name}.weight")
        has_bias = isinstance(part, LayerNorm) and part.bias
        return norm(part, x, weight, self.weight(f"{part.name}.bias") if has_bias else None)

    def norm(self, part: Norm, x: Tensor) -> Tensor:
        """The norm of x with its weights from here."""
        return self.note(part.name, self.unnoted_norm(part, x))
