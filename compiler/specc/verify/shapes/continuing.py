"""Lets a model continue texts, telling the recorder the numbers of every step inside."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from specc.verify.shapes.legend import Facts
from specc.verify.shapes.recorder import Recorder
from specc.verify.shapes.sizes import Setting

NEW = 3
SMALL_VOCABULARY = 3
CHOICES: tuple[dict[str, float], ...] = (
    {},
    {"temperature": 1.0, "top_k": 2, "top_p": 0.9},
)


def is_generating(model: nn.Module) -> bool:
    """Whether it has a `generate` as generated files have it."""
    method = vars(type(model)).get("generate")
    return callable(method) and "max_new_tokens" in inspect.signature(method).parameters


def continue_texts(model: Any, recorder: Recorder, setting: Setting) -> None:  # noqa: ANN401
    """The likeliest tokens and drawn ones, with and without a mask."""
    parameters = inspect.signature(model.generate).parameters
    batch, length = setting.batch, setting.first
    texts = {
        "tokens": torch.randint(SMALL_VOCABULARY, (batch, length)),
        "target": torch.randint(SMALL_VOCABULARY, (batch, length)),
        "source": torch.randint(SMALL_VOCABULARY, (batch, setting.memory)),
    }
    masks = {f"{name[:6].rstrip('s')}_mask": torch.ones_like(t).bool() for name, t in texts.items()}
    memory = setting.memory if "source" in parameters else None
    step = "decode" if "source" in parameters else "forward"
    facts = Facts(batch, length, length + NEW, memory, length + NEW)
    setattr(model, step, _told(getattr(model, step), recorder, memory))
    try:
        for given, choice in ((texts, CHOICES[0]), ({**texts, **masks}, CHOICES[1])):
            own = {name: value for name, value in given.items() if name in parameters}
            with recorder.running(facts):
                model.generate(**own, max_new_tokens=NEW, **choice)
    finally:
        delattr(model, step)


def _told(
    step: Callable[..., object], recorder: Recorder, memory: int | None
) -> Callable[..., object]:
    """The step, for which the recorder knows the new tokens and those before."""

    def told(tokens: Tensor, *given: Any, **named: Any) -> object:  # noqa: ANN401
        cache = next(v for v in (*given, *named.values()) if hasattr(v, "capacity"))
        batch, new = tokens.shape
        with recorder.running(Facts(batch, new, cache.length + new, memory, cache.capacity)):
            return step(tokens, *given, **named)

    return told
