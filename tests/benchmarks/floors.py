"""What no model can be faster than: the bare matrix products of a prefill, and one reading of every
weight for a decode step.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from tests.benchmarks.shapes import Shape

PRODUCTS, READING = "matrix products", "reading the weights"


def products(shape: Shape, length: int) -> Callable[[], object]:
    """Every linear map of the model, the output matrix on all tokens, and both products of
    attention over all pairs of tokens, on tensors that stand ready.
    """
    weights = _matrices(shape)
    inputs = {w.size(1): torch.randn(1, length, w.size(1)) for w in weights}
    number = shape.numbers
    heads, kv_heads = number["n_heads"], number.get("n_kv_heads", number["n_heads"])
    rows = int(heads // kv_heads) * length  # a group of queries shares its keys
    q = torch.randn(int(kv_heads), rows, int(number["head_dim"]))
    keys = torch.randn(int(kv_heads), int(number["head_dim"]), length)
    values = torch.randn(int(kv_heads), length, int(number["head_dim"]))
    scores = torch.rand(int(kv_heads), rows, length)

    def run() -> None:
        for weight in weights:
            F.linear(inputs[weight.size(1)], weight)
        for _ in range(int(number["n_layers"])):
            torch.bmm(q, keys)
            torch.bmm(scores, values)

    return run


def readings(shape: Shape) -> dict[str, Callable[[], object]]:
    """Two ways to read every weight once; the faster one is the floor."""
    weights = _matrices(shape)
    vectors = {w.size(1): torch.randn(w.size(1)) for w in weights}

    def multiply() -> None:
        for weight in weights:
            torch.mv(weight, vectors[weight.size(1)])

    def add() -> None:
        for weight in weights:
            weight.sum()

    return {f"{READING}: products with a vector": multiply, f"{READING}: sums": add}


def _matrices(shape: Shape) -> list[Tensor]:
    """All weights that a token passes, the embedding as the output matrix."""
    return [
        tensor
        for name, tensor in shape.weights.items()
        if tensor.dim() == 2 and name != "position_embedding.weight"
    ]
