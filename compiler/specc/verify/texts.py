"""Texts that golden continues greedily, with weights under which they do not go on alike.

Under plain stress weights the last norm's shift, or the embedding that is the output matrix too,
often makes one token the likeliest everywhere, and a wrong loop would give it as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from specc import golden
from specc.golden import Inputs
from specc.golden.decoding import greedy, next_logits
from specc.ir.model import Kind, Model
from specc.verify.inputs import left_padded

NEW = 9  # tokens: beyond every reduced window
GAINS = (1.0, 3.0, 9.0, 27.0)  # of what sublayers add to the stream
LOUD = ("o_proj.weight", "down_proj.weight", "down_proj")


@dataclass(frozen=True)
class Texts:
    """Inputs padded on the left, all their tokens after NEW steps, and a token to stop at."""

    weights: Mapping[str, Tensor]
    inputs: Inputs
    greedy: Tensor  # [B, T + NEW]
    logits: Tensor  # [B, NEW, V]: what each of its new tokens is chosen by
    stop_token: int
    stopped: Tensor  # [B, T + NEW] or fewer columns: the same with the stop token
    row: int  # a row that meets it
    alone: Tensor  # [1, fewer columns]: that row by itself


def make_texts(model: Model, weights: Mapping[str, Tensor]) -> Texts:
    """The most varied that these weights give, louder or not."""
    inputs = left_padded(model)
    with torch.no_grad():
        tried = [_centred(model, inputs, _louder(weights, gain)) for gain in GAINS]
        texts = [greedy(model, each, inputs, NEW) for each in tried]
        best = max(range(len(texts)), key=lambda i: _variety(texts[i][:, -NEW:]))
        text = texts[best]
        row, column = _stop(text[:, -NEW:])
        stop = int(text[row, column - NEW])
        stopped = greedy(model, tried[best], inputs, NEW, stop)
        end = text.shape[1] - NEW + column + 1
        whole = with_text(model, inputs, text)
        logits = next_logits(model, tried[best], whole)[:, -NEW - 1 : -1]
    alone = text[row : row + 1, :end]
    return Texts(tried[best], inputs, text, logits, stop, stopped, row, alone)


def with_text(model: Model, inputs: Inputs, text: Tensor) -> Inputs:
    """The inputs with a text that goes on from theirs, in a cache's room for it: [B, S]."""
    name = "target" if model.kind is Kind.ENCODER_DECODER else "tokens"
    mask = f"{name.rstrip('s')}_mask"
    real: Tensor = vars(inputs)[mask]
    new = text.shape[1] - real.shape[1]
    grown = torch.cat([real, torch.ones(len(text), new, dtype=torch.bool)], 1)
    whole: dict[str, Tensor] = {name: text, mask: grown}
    return replace(inputs, capacity=text.shape[1], **whole)  # type: ignore[arg-type]


def _louder(weights: Mapping[str, Tensor], gain: float) -> dict[str, Tensor]:
    return {n: gain * t if n.endswith(LOUD) else t for n, t in weights.items()}


def _centred(model: Model, inputs: Inputs, weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The last norm's shift such that features have mean 0; as they are where it has none."""
    stack = model.stacks[-1]
    sublayer = stack.layers[-1].block.sublayers[-1]
    path = None
    if stack.final_norm is not None:
        path = stack.final_norm.name
    elif sublayer.out is not None:
        path = f"{stack.layers_name}.{len(stack.layers) - 1}.{sublayer.out.name}"
    if f"{path}.bias" not in weights:
        return weights
    mean = golden.run(model, weights, inputs).trace[str(path)].mean((0, 1))
    return {**weights, f"{path}.bias": weights[f"{path}.bias"] - mean}


def _variety(new: Tensor) -> int:
    """How many tokens differ, row by row."""
    return sum(len(set(row)) for row in new.tolist())


def _stop(new: Tensor) -> tuple[int, int]:
    """Where the stop token best stands for the first time in its row: another token follows, and
    there are rows that do not have it. 0 is what is left where nothing is written.
    """
    rows: list[list[int]] = new.tolist()

    def worth(place: tuple[int, int]) -> tuple[bool, bool, bool, int]:
        row, column = place
        token = rows[row][column]
        goes_on = any(t != token for t in rows[row][column + 1 :])
        return goes_on, token != 0, any(token not in other for other in rows), column

    firsts = [
        (row, column)
        for row, tokens in enumerate(rows)
        for column, token in enumerate(tokens[:-1])
        if token not in tokens[:column]
    ]
    return max(firsts, key=worth)
