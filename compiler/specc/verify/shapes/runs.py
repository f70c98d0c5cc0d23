"""Calls a model in every way that its signature allows, telling the recorder each call's numbers.

The kind of model is read off the names of forward's parameters, so that a foreign file works too.
With and without masks, a cache, token types and attention weights; in two settings; and its texts
are continued, where it can.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import torch
from torch import Tensor, nn

from specc.verify.shapes.continuing import continue_texts, is_generating
from specc.verify.shapes.legend import Facts
from specc.verify.shapes.recorder import Recorder
from specc.verify.shapes.sizes import Setting, settings

INPUTS = (("tokens",), ("source", "target"), ("queries", "memory"))
SMALL_VOCABULARY = 3


class UncallableError(Exception):
    """The file's model cannot be called; the message says why."""


@dataclass(frozen=True)
class Way:
    """One way to call forward."""

    is_masked: bool
    is_cached: bool
    layers: tuple[int, ...]


@dataclass(frozen=True)
class Caller:
    """A model, its sizes and its signature."""

    model: nn.Module
    config: Mapping[str, int]
    recorder: Recorder
    parameters: frozenset[str]

    def run(self) -> None:
        """Every way in both settings. Raises what the model raises."""
        ways = list(self._ways())
        with torch.no_grad():
            for setting in settings(self.config):
                for way in ways:
                    self._call(way, setting)
                self._lone_token(setting)
                if is_generating(self.model):
                    continue_texts(self.model, self.recorder, setting)

    def _lone_token(self, setting: Setting) -> None:
        """One row of one token, which a file may compute in a way of its own."""
        self._forward(Way(False, False, ()), replace(setting, batch=1), 1, 0, {})

    def _ways(self) -> Iterator[Way]:
        masks = [False, True] if any(p.endswith("_mask") for p in self.parameters) else [False]
        has_cache = "cache" in self.parameters and hasattr(self.model, "new_cache")
        layers = [()] + [self._layers()] * ("attention_layers" in self.parameters)
        for mask, cached, wanted in product(masks, [False, True][: 1 + has_cache], layers):
            yield Way(mask, cached, wanted)

    def _layers(self) -> tuple[int, ...]:
        names = [n for n in self.config if n in ("n_layers", "n_decoder_layers")]
        return tuple(range(self.config[names[0]] if names else 1))

    def _call(self, way: Way, setting: Setting) -> None:
        if not way.is_cached:
            self._forward(way, setting, setting.first, 0, {})
            return
        with self.recorder.running(Facts(batch=setting.batch, capacity=setting.capacity)):
            model: Any = self.model
            given = {"cache": model.new_cache(setting.batch, setting.capacity)}
        past = 0
        for new in (setting.first, setting.more, 1):
            self._forward(way, setting, new, past, given)
            past += new

    def _forward(
        self, way: Way, setting: Setting, new: int, past: int, given: Mapping[str, object]
    ) -> None:
        has_memory = bool({"memory", "source"} & self.parameters)
        memory = setting.memory if has_memory else None
        capacity = setting.capacity if given else None
        arguments = {**given, **self._arguments(way, setting, new, past)}
        with self.recorder.running(Facts(setting.batch, new, past + new, memory, capacity)):
            self.model(**arguments)

    def _arguments(self, way: Way, setting: Setting, new: int, past: int) -> dict[str, object]:
        batch = setting.batch
        found: dict[str, object] = {
            "tokens": _tokens(batch, new),
            "target": _tokens(batch, new),
            "source": _tokens(batch, setting.memory),
            "queries": self._features(batch, new),
            "memory": self._features(batch, setting.memory),
        }
        if way.is_masked:
            found["token_types"] = torch.zeros(batch, new, dtype=torch.long)
            found["token_mask"] = found["target_mask"] = _mask(batch, past + new)
            found["source_mask"] = found["memory_mask"] = _mask(batch, setting.memory)
        if way.layers:
            found["attention_layers"] = way.layers
        return {name: value for name, value in found.items() if name in self.parameters}

    def _features(self, batch: int, length: int) -> Tensor:
        return torch.randn(batch, length, self.config.get("d_model", 1))


def caller(model: nn.Module, config: Mapping[str, int], recorder: Recorder) -> Caller:
    """Read forward's signature. Raises UncallableError for one that is not known."""
    parameters = inspect.signature(model.forward).parameters
    known = {name for names in INPUTS for name in names}
    needed = {n for n, p in parameters.items() if p.default is p.empty and n != "cache"}
    if not any(set(names) <= set(parameters) and needed & known <= set(names) for names in INPUTS):
        raise UncallableError(
            f"forward({', '.join(parameters)}) is unknown: it takes tokens, source and target,"
            " or queries and memory"
        )
    odd = sorted(needed - known)
    if odd:
        raise UncallableError(f"forward needs {odd[0]}, and nothing is known to give for it")
    return Caller(model, config, recorder, frozenset(parameters))


def _tokens(batch: int, length: int) -> Tensor:
    return torch.randint(SMALL_VOCABULARY, (batch, length))


def _mask(batch: int, length: int) -> Tensor:
    """All real but each row's last, where there is more than one."""
    mask = torch.ones(batch, length, dtype=torch.bool)
    mask[:, 1:][:, -1:] = False
    return mask
