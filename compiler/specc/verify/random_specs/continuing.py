"""Whether each token that a file continues a text by is one of golden's likeliest.

Two tokens may be as good as each other up to rounding, so that logits are compared, not tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from specc.golden.decoding import next_logits
from specc.ir.model import Model
from specc.verify.calls import arguments
from specc.verify.inputs import LENGTH, left_padded
from specc.verify.live import generating
from specc.verify.texts import with_text

NEW = 3
LIMIT = 1e-9  # of the largest logit


def wrong_steps(model: Model, weights: Mapping[str, Tensor], live: nn.Module) -> Iterator[str]:
    """Steps at which another token is likelier, texts padded left by several lengths."""
    if not model.generate:
        return
    inputs = replace(left_padded(model), attention_layers=())
    text = generating(live).generate(**arguments(model, inputs), max_new_tokens=NEW)
    if text.shape != (len(text), LENGTH + NEW):
        yield f"generate gives {list(text.shape)} tokens"
        return
    with torch.no_grad():
        logits = next_logits(model, weights, with_text(model, inputs, text))
    for column in range(LENGTH, LENGTH + NEW):
        said = logits[:, column - 1]
        short = said.amax(-1) - said.gather(-1, text[:, column, None])[:, 0]
        if not bool((short <= LIMIT * said.abs().amax(-1)).all()):
            yield f"token {column - LENGTH} that generate gives lacks {short.max().item():.1e}"
