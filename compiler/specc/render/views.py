"""What each stack's layers are told about the tokens' places, as code: a NamedTuple, or the mask
alone.

Stacks that need the same kinds of fields share one type, so that an encoder and a decoder can share
a class of attention: the encoder's view says that it is not causal and that nothing came before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from specc.ir.attention import Attention, AttentionSource, LatentAttention, kept_window
from specc.ir.block import Stack, TokenInput
from specc.ir.model import Model
from specc.ir.views import View, self_attention, views
from specc.render.classes import structure
from specc.render.code import camel

SelfAttention = TypeVar("SelfAttention", Attention, LatentAttention)


@dataclass(frozen=True)
class ViewText:
    """How layers name what they look through."""

    type_name: str | None  # None: the mask is all there is
    rotary: bool
    biased: bool  # every mask is an additive bias
    mixed: bool  # some masks are
    spelled: bool  # every mask is there: none is left to SDPA's causal flag, or to seeing all
    near: bool  # some masks say which places are near, one for all texts
    causal: bool  # some layers look at the past only
    both_ways: bool  # some look both ways
    cached: bool
    windowed: bool  # some layers keep a window only
    temperature: bool

    @property
    def flag(self) -> bool:
        """Whether it carries SDPA's own causal flag, which else follows from the mask."""
        several = self.cached or self.mixed or self.both_ways
        return self.causal and several and not self.spelled

    @property
    def leaves_lone(self) -> bool:
        """Whether the window of a single new token goes without a mask, which no bias asks for."""
        return self.windowed and not self.biased and not self.mixed

    @property
    def mask(self) -> str:
        return "view.mask" if self.type_name else "mask"

    @property
    def argument(self) -> str:
        return "view" if self.type_name else "mask"

    @property
    def mask_type(self) -> str:
        return "Tensor" if self.spelled and not self.leaves_lone else "Tensor | None"

    @property
    def keys(self) -> str:
        """The letter of the length of all keys that a layer may look at."""
        return "P" if self.windowed else "S" if self.cached else "T"

    @property
    def mask_shape(self) -> str:
        """As a shape comment, with the keys that a cache adds to the T new tokens."""
        keys = self.keys
        alone = (self.flag and self.cached) or self.near
        plain = [f"[T, {keys}]"] * alone + [f"[B, 1, T, {keys}]"]
        biased = [f"[H, T, {keys}]", f"[B, H, T, {keys}]"]
        if self.biased:
            return " or ".join(biased)
        return " or ".join(plain + biased if self.mixed else plain)

    @property
    def parameter(self) -> str:
        """As a parameter of `forward`."""
        if self.type_name:
            return f"view: {self.type_name},"
        return f"mask: {self.mask_type},  # {self.mask_shape}"

    @property
    def is_causal(self) -> str | None:
        """What to pass as SDPA's `is_causal`; None where a mask says it all."""
        if not self.causal or self.spelled:
            return None
        return "view.is_causal" if self.flag else f"{self.mask} is None"


def view_texts(model: Model) -> dict[str, ViewText]:
    """The view of each stack of tokens that attends to itself, by the stack's name."""
    found = {
        stack.name: _own(stack)
        for stack in model.stacks
        if views(stack) and isinstance(stack.input, TokenInput)
    }
    united = _united(list(found.values()))
    if united is not None and _share_a_class(model.stacks):
        return dict.fromkeys(found, _named(united, "View"))
    several = sum(_needs_tuple(text) for text in found.values()) > 1
    return {
        name: _named(text, camel(name, "View") if several else "View")
        for name, text in found.items()
    }


def as_class(part: SelfAttention, view: ViewText | None) -> SelfAttention:
    """The attention as its class has it: self-attention takes what any stack of its view needs."""
    if view is None or (isinstance(part, Attention) and part.source is AttentionSource.MEMORY):
        return part
    return replace(part, causal=view.causal, cached=view.cached, reach=None)


def _own(stack: Stack) -> ViewText:
    own = views(stack)
    attentions = [a for t in stack.layer_types if (a := self_attention(t.block))]
    return ViewText(
        type_name=None,
        rotary=any(view.rotary is not None for view in own),
        biased=all(view.alibi is not None for view in own),
        mixed=len({view.alibi is not None for view in own}) > 1,
        spelled=all(_is_spelled(view) for view in own),
        near=any(view.reach is not None and view.alibi is None for view in own),
        causal=any(view.causal for view in own),
        both_ways=not all(view.causal for view in own),
        cached=any(a.cached for a in attentions),
        windowed=any(kept_window(a) is not None for a in attentions),
        temperature=any(a.temperature is not None for a in attentions if isinstance(a, Attention)),
    )


def _is_spelled(view: View) -> bool:
    return view.alibi is not None or view.reach is not None


def _united(texts: list[ViewText]) -> ViewText | None:
    """One view for all, where they differ only in direction and cache."""
    alike = {(t.rotary, t.biased, t.mixed, t.spelled, t.temperature) for t in texts}
    if len(alike) != 1:
        return None
    return replace(
        texts[0],
        near=any(t.near for t in texts),
        causal=any(t.causal for t in texts),
        both_ways=any(t.both_ways for t in texts),
        cached=any(t.cached for t in texts),
        windowed=any(t.windowed for t in texts),
    )


def _share_a_class(stacks: Sequence[Stack]) -> bool:
    """Whether every stack has an attention to itself that is like one of the first's."""
    kinds = [
        {
            structure(replace(a, causal=False, cached=False, reach=None))
            for t in stack.layer_types
            if (a := self_attention(t.block))
        }
        for stack in stacks
    ]
    return all(kinds[0] & own for own in kinds)


def _needs_tuple(text: ViewText) -> bool:
    return text.rotary or text.cached or text.mixed or text.flag or text.temperature


def _named(text: ViewText, name: str) -> ViewText:
    return replace(text, type_name=name) if _needs_tuple(text) else text
