"""transformers' own model of a config: built small, filled with published tensors, and called.

It is asked as its users ask it: `from_pretrained` reads the tensors, `cache` and `attention_mask`
are its own words. Nothing is fetched.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from torch import Tensor, nn
from transformers.core_model_loading import revert_weight_conversion
from transformers.utils import logging

from specc.importers.hf_configs import Dialect, Facts
from specc.ir.model import Model


@dataclass(frozen=True)
class Question:
    """Ids [B, T], which of them are real, and their types."""

    tokens: Tensor
    real: Tensor | None = None
    types: Tensor | None = None


@contextmanager
def quiet_library() -> Iterator[None]:
    """No progress bars and no advice."""
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@dataclass(frozen=True)
class Theirs:
    """One live model of the library."""

    module: Any

    @property
    def version(self) -> str:
        return str(transformers.__version__)

    def published(self) -> dict[str, Tensor]:
        """Its tensors as `save_pretrained` names and stores them."""
        found: dict[str, Tensor] = revert_weight_conversion(self.module, self.module.state_dict())
        return found

    def outputs(self, question: Question, cache: object = None) -> tuple[Tensor, ...]:
        """What it returns, tensors alone. With a cache: the last places of all tokens so far."""
        given = self._arguments(question, cache)
        new = question.tokens if cache is None else question.tokens[:, cache.get_seq_length() :]  # type: ignore[attr-defined]
        with torch.no_grad():
            found = self.module(new, **given).to_tuple()
        return tuple(value for value in found if isinstance(value, Tensor))

    def generate(self, question: Question, new: int) -> Tensor:
        """Its own greedy continuation, [B, T + new]."""
        greedy = transformers.GenerationConfig(
            max_new_tokens=new, do_sample=False, pad_token_id=0, eos_token_id=None
        )
        mask = torch.ones_like(question.tokens) if question.real is None else question.real.long()
        found: Tensor = self.module.generate(
            question.tokens, attention_mask=mask, generation_config=greedy
        )
        return found

    def new_cache(self) -> object:
        """An empty cache."""
        return transformers.DynamicCache(config=self.module.config)

    def layers(self, prefix: str) -> list[nn.Module]:
        """The modules whose names begin so, one a layer; `{layer}` stands for its number."""
        names = {name.removeprefix("model."): m for name, m in self.module.named_modules()}
        found: list[nn.Module] = []
        short = prefix.removeprefix("model.")
        while (name := short.replace("{layer}", str(len(found)))) in names:
            found.append(names[name])
        return found

    def _arguments(self, question: Question, cache: object) -> dict[str, object]:
        """The keywords that this class of model has."""
        known = inspect.signature(self.module.forward).parameters
        start = 0 if cache is None else cache.get_seq_length()  # type: ignore[attr-defined]
        given: dict[str, object] = {}
        if question.real is not None:
            given["attention_mask"] = question.real.long()
            places = (question.real.cumsum(-1) - 1).clamp(min=0)[:, start:]
            if "position_ids" in known:
                given["position_ids"] = places
        if question.types is not None:
            given["token_type_ids"] = question.types
        if cache is not None:
            given["cache" if "cache" in known else "past_key_values"] = cache
            given["use_cache"] = True
        return given


def build(
    model: Model, dialect: Dialect, published: Mapping[str, Tensor], dtype: torch.dtype
) -> Theirs:
    """The library's model of that config with these tensors. Raises ValueError if it ignores one
    or lacks one.
    """
    written = dialect.config(Facts(model))
    names = {name: value for name, value in written.items() if name != "architectures"}
    config = transformers.AutoConfig.for_model(**names)
    more: dict[str, object] = dict.fromkeys(dialect.without, False)
    if "num_experts_per_tok" in names:
        more["experts_implementation"] = "eager"
    module, report = getattr(transformers, dialect.architecture).from_pretrained(
        None,
        config=config,
        state_dict=dict(published),
        attn_implementation=dialect.attention,
        dtype=dtype,
        output_loading_info=True,
        **more,
    )
    _refuse_gaps(dict(vars(report) if not isinstance(report, dict) else report))
    return Theirs(module.eval())


def _refuse_gaps(report: dict[str, Any]) -> None:
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys", "error_msgs"):
        if report.get(kind):
            raise ValueError(f"{kind.replace('_', ' ')}: {sorted(map(str, report[kind]))[:4]}")
