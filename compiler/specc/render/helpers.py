"""The small functions at the top of a file: only those that its classes call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specc.ir.attention import Attention, AttentionSource
from specc.ir.block import Stack
from specc.ir.feed_forward import Clamp
from specc.ir.heads import ClassifierHead, Pool
from specc.ir.model import Kind, Model
from specc.ir.positions import LearnedPosition, PositionIndex, Rotary, Sinusoidal
from specc.ir.views import views
from specc.ir.walk import walk
from specc.render.engine import section
from specc.render.positions import rotate_template
from specc.render.views import ViewText


def helper_sections(model: Model, texts: Mapping[str, ViewText]) -> list[str]:
    """The helpers in the order in which a reader needs them."""
    attentions = [p for p in walk(model.stacks) if isinstance(p, Attention)]
    found = []
    if attentions:
        found += [section("helpers/split_heads"), section("helpers/merge_heads")]
    rotary = next((p for p in walk(model.stacks) if isinstance(p, Rotary)), None)
    if rotary is not None:
        found.append(section(f"helpers/{rotate_template(rotary)}"))
    giving = [a for a in attentions if a.gives_weights]
    if giving:
        found.append(_attention_weights(giving, model, texts))
    for stack in model.stacks:
        found += _visible(stack, stack is model.stacks[-1], texts.get(stack.name))
    if any(a.source is AttentionSource.MEMORY for a in attentions):
        found.append(section("helpers/visible_memory"))
    if _counts_real_tokens(model.stacks):
        cached = counts_from_start(model)
        found.append(
            section(
                "helpers/token_positions",
                cached=cached,
                span="start, start + tokens.size(1)" if cached else "tokens.size(1)",
                new="[:, start:]" if cached else "",
                keys="S" if cached else "T",
            )
        )
    if _pools_real_tokens(model):
        found.append(section("helpers/mean_pool"))
    if any(isinstance(part, Clamp) for part in walk(model.stacks)):
        found.append(section("helpers/clamped_glu"))
    return found + _checks(model)


def _pools_real_tokens(model: Model) -> bool:
    """Whether a head averages over tokens, some of which may be padding."""
    means = (isinstance(h, ClassifierHead) and h.pool is Pool.MEAN for h in model.heads)
    return model.kind is not Kind.FEATURES and any(means)


def _attention_weights(
    giving: Sequence[Attention], model: Model, texts: Mapping[str, ViewText]
) -> str:
    part = giving[0]
    memory = part.source is AttentionSource.MEMORY
    text = None if memory else texts.get(model.stacks[-1].name)
    keys = "M" if memory else "S" if part.cached else "T"
    letters = sorted({"K" if a.is_grouped else "H" for a in giving})
    context: dict[str, Any] = {
        "k_shape": " or ".join(f"[B, {letter}, {keys}, E]" for letter in letters),
        "keys": keys,
        "mask_type": text.mask_type if text else "Tensor | None",
        "mask_shape": text.mask_shape if text else "[B, 1, 1, M]",
        "causal": text is not None and text.is_causal is not None,
        "biased": text is not None and text.biased,
        "mixed": text is not None and text.mixed,
        "grouped": "K" in letters,
        "memory": memory,
    }
    return section("helpers/attention_weights", **context)


def _visible(stack: Stack, last: bool, text: ViewText | None) -> list[str]:
    """The function that makes the stack's mask, if it has one that is no bias."""
    if text is None or all(view.alibi is not None for view in views(stack)):
        return []
    causal = any(view.causal for view in views(stack))
    if causal and text.flag and text.cached:
        return [section("helpers/visible_cached")]
    if causal:
        return [section("helpers/visible_causal")]
    name = "visible_tokens" if last else "visible_source"
    return [section("helpers/visible_both_ways", name=name)]


def counts_from_start(model: Model) -> bool:
    """Whether `token_positions` takes a start: only the last stack has a cache."""
    return model.cache and _counts_real_tokens(model.stacks[-1:])


def _counts_real_tokens(stacks: tuple[Stack, ...]) -> bool:
    found = [p for p in walk(stacks) if isinstance(p, Rotary | Sinusoidal | LearnedPosition)]
    return any(p.index is PositionIndex.MASK for p in found)


def _checks(model: Model) -> list[str]:
    found = []
    limited = (Rotary, Sinusoidal, LearnedPosition)
    if any(isinstance(p, limited) for p in walk(model.stacks)):
        found.append(section("helpers/check_length"))
    found.append(section("helpers/check_mask"))
    if model.cache:
        found.append(section("helpers/check_cache"))
    if model.attention_weights:
        found.append(section("helpers/check_layers"))
    return found
