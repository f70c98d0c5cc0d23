"""How far tensors lie apart: max|a - b| / max|b|, over one tensor or over many."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf

from torch import Tensor


def relative_error(found: Tensor, wanted: Tensor) -> float:
    """max|found - wanted| / max|wanted|; infinite where a shape or a number is wrong."""
    if found.shape != wanted.shape:
        return inf
    if wanted.numel() == 0:
        return 0.0
    difference = (found.detach().double() - wanted.detach().double()).abs().max().item()
    return _ratio(difference, wanted.detach().double().abs().max().item())


def _ratio(difference: float, size: float) -> float:
    if difference != difference or size != size or inf in (difference, size):
        return inf
    if difference == 0.0:
        return 0.0
    return inf if size == 0.0 else difference / size


def joint_error(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> tuple[float, str]:
    """The largest difference of all tensors over the largest number of all, and where it is."""
    size = max((t.double().abs().max().item() for t in wanted.values()), default=0.0)
    worst, name = 0.0, ""
    for key, tensor in wanted.items():
        if key not in found or found[key].shape != tensor.shape:
            return inf, key
        gap = (found[key].double() - tensor.double()).abs().max().item()
        if gap != gap:
            return inf, key
        if gap > worst or not name:
            worst, name = gap, key
    return _ratio(worst, size), name


def worst_error(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> tuple[float, str]:
    """The largest relative error over tensors of the same name, and that name."""
    errors = {
        name: relative_error(found[name], tensor) if name in found else inf
        for name, tensor in wanted.items()
    }
    name = max(errors, key=lambda key: errors[key])
    return errors[name], name


def differing_share(found: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> float:
    """Which part of all values differs in its bits; a wrong shape differs in all of its values."""
    total = sum(tensor.numel() for tensor in wanted.values())
    unequal = 0
    for name, tensor in wanted.items():
        other = found.get(name)
        if other is None or other.shape != tensor.shape:
            unequal += tensor.numel()
        else:
            unequal += int((other != tensor).sum())
    return unequal / total if total else 0.0


def margin(error: float, limit: float) -> float | None:
    """How many times the limit; None where the error is no number."""
    return None if error == inf else error / limit
