"""The function that spells attention weights out, where SDPA cannot say or does not give them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from specc.ir.attention import Attention, AttentionSource, kept_window
from specc.ir.model import Model
from specc.render.code import moving
from specc.render.engine import section
from specc.render.views import ViewText


def weights_section(parts: Sequence[Attention], model: Model, texts: Mapping[str, ViewText]) -> str:
    """One function for all attentions that call it: what not all need may be left out."""
    own = [a for a in parts if a.source is AttentionSource.SELF]
    memory = len(own) < len(parts)
    views = (
        list(dict.fromkeys(texts[s.name] for s in model.stacks if s.name in texts)) if own else []
    )
    keys = _keys(parts)
    letters = sorted({"K" if a.is_grouped else "H" for a in parts})
    near = keys == ["P"]
    shapes = [replace(view, windowed=near).mask_shape for view in views] + [
        f"[B, 1, 1, {keys[-1]}]"
    ] * memory
    flags = [view.is_causal is not None for view in views] + [False] * memory
    causal = any(flags)
    optional = memory or not views or any("None" in view.mask_type for view in views)
    scores = " or ".join(f"[B, H, T, {key}]" for key in keys)
    return section(
        "helpers/attention_weights",
        k_shape=" or ".join(f"[B, {letter}, {key}, E]" for letter in letters for key in keys),
        repeated=" or ".join(f"[B, H, {key}, E]" for key in keys),
        scores=scores,
        mask_type="Tensor | None" if optional else "Tensor",
        mask_shape=" or ".join(dict.fromkeys(shapes)),
        grouped="K" in letters,
        doc=moving(_summary(parts), scores),
        optional=sorted(_flag(flags) + _optional(parts), key=lambda line: "=" in line),
        cap=_cap([a.softcap is not None for a in parts]),
        masked=_masked(views, causal, optional),
        weights=_weights(parts, memory),
    )


def _keys(parts: Sequence[Attention]) -> list[str]:
    """Where the keys stand. All so far, S, are those of a memory too, or of an encoder; all in
    reach, P, are all so far where no window is.
    """
    if any(kept_window(a) is not None for a in parts):
        return ["P"]
    found = ["M" if a.source is AttentionSource.MEMORY else "S" if a.cached else "T" for a in parts]
    return ["S"] if "S" in found else sorted(set(found), key="TM".index)


def _flag(given: list[bool]) -> list[str]:
    """SDPA's own causal flag, where a mask does not say it."""
    if not any(given):
        return []
    return ["is_causal: bool," if all(given) else "is_causal: bool = False,"]


def _optional(parts: Sequence[Attention]) -> list[str]:
    """The parameters that all or some attention passes, and a default where some do not."""
    capped = [a.softcap is not None for a in parts]
    sunk = [a.sinks is not None for a in parts]
    found = [f"softcap: float{_default(capped)},"] if any(capped) else []
    return found + ([f"sinks: Tensor{_default(sunk)},  # [H]"] if any(sunk) else [])


def _default(given: list[bool]) -> str:
    return "" if all(given) else " | None = None"


def _summary(parts: Sequence[Attention]) -> str:
    if all(a.softcap is None and a.sinks is None for a in parts):
        return "What SDPA keeps to itself, the softmax of the scores"
    if any(a.sinks is not None for a in parts):
        return "The softmax of scores beside a sink without value"
    return "The softmax of capped scores, which SDPA cannot say"


def _cap(given: list[bool]) -> list[str]:
    line = "scores = softcap * torch.tanh(scores / softcap)"
    if not any(given):
        return []
    return [line] if all(given) else ["if softcap is not None:", f"    {line}"]


def _masked(views: list[ViewText], causal: bool, optional: bool) -> list[str]:
    """The mask is boolean, or a bias that is added, or now this and now that."""
    found: list[str] = []
    if causal:
        found += [
            "if is_causal:",
            "    mask = torch.ones_like(scores, dtype=torch.bool).tril()",
        ]
    hide = 'scores = scores.masked_fill(~mask, float("-inf"))'
    if views and all(view.biased for view in views):
        return [*found, "scores = scores + mask"]
    if any(view.mixed or view.biased for view in views):
        return [
            *found,
            "if mask is not None and mask.is_floating_point():",
            "    scores = scores + mask",
            "elif mask is not None:",
            f"    {hide}",
        ]
    return [*found, *(["if mask is not None:", f"    {hide}"] if optional else [hide])]


def _weights(parts: Sequence[Attention], memory: bool) -> list[str]:
    sinks = [a.sinks is not None for a in parts]
    tail = ".nan_to_num()" if memory else ""
    note = ["# A row that may look at nothing gives 0, as SDPA has it."] if memory else []
    plain = [*note, f"return scores.softmax(dim=-1){tail}"]
    with_sink = [
        "sink = sinks.view(-1, 1, 1).expand(*scores.shape[:-1], 1)  # [B, H, T, 1]",
        "return torch.cat((scores, sink), dim=-1).softmax(dim=-1)[..., :-1]",
    ]
    if not any(sinks):
        return plain
    if all(sinks):
        return with_sink
    return ["if sinks is not None:", *(f"    {line}" for line in with_sink), *plain]
