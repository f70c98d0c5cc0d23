"""Published tensors and ours, as algebra: from the IR and a layout, a list of typed operations.

Every operation says which published tensors become which of ours, with all shapes, and can be run
both ways. Nothing here holds a tensor: shapes and names only; `convert` does the arithmetic.
"""

from __future__ import annotations

from specc.weights.derive import WeightsError, operations
from specc.weights.layout import Constant, Copy, Dropped, Entry, Layout, Spelling
from specc.weights.operations import Drop, Fill, Move, Operation, Tie
from specc.weights.steps import Arrangement, Named

__all__ = [
    "Arrangement",
    "Constant",
    "Copy",
    "Drop",
    "Dropped",
    "Entry",
    "Fill",
    "Layout",
    "Move",
    "Named",
    "Operation",
    "Spelling",
    "Tie",
    "WeightsError",
    "operations",
]
