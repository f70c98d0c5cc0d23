"""Greedy decoding by its definition: every step runs the whole text anew, without a cache."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from specc.golden.inputs import Inputs, needed_tensor
from specc.golden.run import run
from specc.ir.heads import LanguageModelHead
from specc.ir.model import Kind, Model


def next_logits(model: Model, weights: Mapping[str, Tensor], inputs: Inputs) -> Tensor:
    """What the language model says after each token: [B, T, V]. ValueError without such a head."""
    names = [head.output_name for head in model.heads if isinstance(head, LanguageModelHead)]
    if not names:
        raise ValueError("the model predicts no tokens")
    found = run(model, weights, inputs).outputs[names[0]]
    return needed_tensor(found, names[0])


def greedy(
    model: Model,
    weights: Mapping[str, Tensor],
    inputs: Inputs,
    max_new_tokens: int,
    stop_token: int | None = None,
) -> Tensor:
    """The given tokens [B, T] and the likeliest that follow them, one by one: [B, T + new].

    A row that has met the stop token goes on with it; when all rows have, the text ends. Inputs may
    be padded on the left. Frequencies that follow a length follow that of the longest text.
    """
    tokens_name, mask_name = _names(model)
    text = needed_tensor(vars(inputs)[tokens_name], tokens_name)
    real = vars(inputs)[mask_name]
    room = text.shape[1] + max_new_tokens
    ended = [False] * text.shape[0]
    for _ in range(max_new_tokens):
        given = replace(inputs, **{tokens_name: text, mask_name: real}, capacity=room)
        logits = next_logits(model, weights, given)
        chosen = [_likeliest(logits[row, -1]) for row in range(text.shape[0])]
        for row in range(text.shape[0]):
            if ended[row] and stop_token is not None:
                chosen[row] = stop_token
            ended[row] = ended[row] or chosen[row] == stop_token
        text = torch.cat([text, torch.tensor(chosen, dtype=text.dtype)[:, None]], 1)
        if real is not None:
            real = torch.cat([real, torch.ones(text.shape[0], 1, dtype=torch.bool)], 1)
        if all(ended):
            break
    return text


def _names(model: Model) -> tuple[str, str]:
    """The inputs that grow."""
    if model.kind is Kind.ENCODER_DECODER:
        return "target", "target_mask"
    return "tokens", "token_mask"


def _likeliest(logits: Tensor) -> int:
    """The token of the largest logit; of equal ones the first."""
    values = logits.tolist()
    return int(values.index(max(values)))
