"""The small functions at the top of a file: only those that its classes call."""

from __future__ import annotations

from collections.abc import Mapping

from specc.ir.attention import (
    Attention,
    AttentionSource,
    Chunk,
    LatentAttention,
    PositionTemperature,
    Window,
    kept_window,
)
from specc.ir.block import Stack
from specc.ir.feed_forward import Clamp
from specc.ir.heads import ClassifierHead, Pool
from specc.ir.model import Kind, Model
from specc.ir.positions import LearnedPosition, PositionIndex, Rotary, Sinusoidal
from specc.ir.views import View, views
from specc.ir.walk import walk
from specc.render.attention import is_explicit
from specc.render.code import moving
from specc.render.engine import section
from specc.render.positions import Turns, looks_up_slices
from specc.render.views import ViewText
from specc.render.weights import weights_section


def helper_sections(model: Model, texts: Mapping[str, ViewText]) -> list[str]:
    """The helpers in the order in which a reader needs them."""
    attentions = [p for p in walk(model.stacks) if isinstance(p, Attention)]
    found = []
    latent = [p for p in walk(model.stacks) if isinstance(p, LatentAttention)]
    if attentions or latent:
        found += _heads(attentions, latent)
    found += Turns(model).sections()
    spelled = [a for a in attentions if a.gives_weights or is_explicit(a)]
    if spelled:
        found.append(weights_section(spelled, model, texts))
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
                sliced=looks_up_slices(model.stacks),
                span="start, start + tokens.size(1)" if cached else "tokens.size(1)",
                new="[:, start:]" if cached else "",
                keys="S" if cached else "T",
            )
        )
    if _counts_ids(model):
        found.append(section("helpers/id_positions"))
    if any(isinstance(part, PositionTemperature) for part in walk(model.stacks)):
        found.append(section("helpers/position_temperature"))
    if _pools_real_tokens(model):
        found.append(section("helpers/mean_pool"))
    if any(isinstance(part, Clamp) for part in walk(model.stacks)):
        found.append(section("helpers/clamped_glu"))
    return found + [section("helpers/sample")] * model.generate + _checks(model)


def _heads(plain: list[Attention], latent: list[LatentAttention]) -> list[str]:
    """The functions that take heads apart and put them together; a latent unfolds all its keys."""
    windowed = any(kept_window(part) is not None for part in latent)
    keys = "P" if windowed else "S" if any(part.cached for part in latent) else "T"
    width = "head_dim" if plain and latent else "E"
    lengths = dict.fromkeys(f"T{keys}")
    packed = " or ".join(f"[B, {length}, H*{width}]" for length in lengths)
    split = " or ".join(f"[B, H, {length}, {width}]" for length in lengths)
    all_ = "in reach" if keys == "P" else "so far"
    of = f", of new tokens or of all {all_}" if len(lengths) > 1 else ""
    widths = "EU" if plain and latent else "E"
    heads = " or ".join(f"[B, H, T, {width}]" for width in widths)
    merged = " or ".join(f"[B, T, H*{width}]" for width in widths)
    unpack = moving(f"Unpack the heads from the width{of}", f"{packed} -> {split}")
    pack = moving("Pack the heads into the width", f"{heads} -> {merged}")
    return [section("helpers/split_heads", doc=unpack), section("helpers/merge_heads", doc=pack)]


def _pools_real_tokens(model: Model) -> bool:
    """Whether a head averages over tokens, some of which may be padding."""
    means = (isinstance(h, ClassifierHead) and h.pool is Pool.MEAN for h in model.heads)
    return model.kind is not Kind.FEATURES and any(means)


def _visible(stack: Stack, last: bool, text: ViewText | None) -> list[str]:
    """The functions that make the stack's masks, but for those that are biases."""
    if text is None:
        return []
    found: dict[str, str] = {}
    for view in views(stack):
        template, name = _mask_function(view, last, text)
        if template is not None:
            found[template] = section(f"helpers/{template}", name=name, view=text)
    return list(found.values())


def _mask_function(view: View, last: bool, text: ViewText) -> tuple[str | None, str]:
    """The template of the function that makes a view's mask, and the name that it takes."""
    if isinstance(view.reach, Window):
        return ("visible_window" if view.causal else "visible_both_sides"), ""
    if isinstance(view.reach, Chunk):
        return "visible_chunk", ""
    if view.alibi is not None:
        return None, ""
    if view.causal:
        return ("visible_cached" if text.flag and text.cached else "visible_causal"), ""
    return "visible_both_ways", "visible_tokens" if last else "visible_source"


def counts_from_start(model: Model) -> bool:
    """Whether `token_positions` takes a start: only the last stack has a cache."""
    return model.cache and _counts_real_tokens(model.stacks[-1:])


def _counts_ids(model: Model) -> bool:
    parts = [p for p in walk(model.stacks) if isinstance(p, LearnedPosition)]
    return any(p.index is PositionIndex.IDS for p in parts)


def _counts_real_tokens(stacks: tuple[Stack, ...]) -> bool:
    found = [p for p in walk(stacks) if isinstance(p, Rotary | Sinusoidal | LearnedPosition)]
    warm = any(isinstance(p, PositionTemperature) for p in walk(stacks))
    return warm or any(p.index is PositionIndex.MASK for p in found)


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
