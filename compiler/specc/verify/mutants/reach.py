"""Mistakes with what attention looks at and how it scores: reach, caps, sinks, gates, latents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from specc.ir.attention import (
    Attention,
    Chunk,
    InverseSqrtSum,
    LatentAttention,
    LowRank,
    NormOver,
    OutputGate,
    PositionTemperature,
    QkNorm,
    Reach,
    Sinks,
    Window,
)
from specc.ir.layers import Linear, NormWeight, RmsNorm
from specc.ir.model import Model
from specc.ir.positions import Rotary
from specc.ir.walk import walk
from specc.verify.mutants.mutant import Mutant, dropped, each, rewritten, scaled

Either = Attention | LatentAttention


def _both(change: Callable[[Either], object]) -> Callable[[Model], Model | None]:
    """One change on attention of either kind."""

    def edit(model: Model) -> Model | None:
        once = rewritten(model, Attention, change)
        twice = rewritten(once or model, LatentAttention, change)
        return twice or once

    return edit


def _reach(kind: type[Reach], name: str, change: Callable[[Reach], Reach | None]) -> Mutant:
    """Attention of that reach with another one."""

    def edit(part: Either) -> Either:
        is_meant = isinstance(part.reach, kind) and part.reach is not None
        return replace(part, reach=change(part.reach)) if is_meant and part.reach else part

    return Mutant(f"{kind.__name__}: {name}", _both(edit))


def _in_chunks(part: Either) -> Either:
    """Only where a chunk has a meaning: among tokens in order."""
    if not isinstance(part.reach, Window) or not part.causal:
        return part
    return replace(part, reach=Chunk(part.reach.size))


def _named(mutant: Mutant, owner: type, name: str) -> Mutant:
    return replace(mutant, name=f"{owner.__name__}: {name}")


def _when(part: Attention) -> Attention:
    """Norms of single heads on the other side of the turn."""
    norm = part.qk_norm
    if not isinstance(norm, QkNorm) or norm.over is NormOver.FULL:
        return part
    return replace(part, qk_norm=replace(norm, after_turn=not norm.after_turn))


def turned_alike(model: Model) -> str | None:
    """Why a norm may stand on either side of the turn."""
    for part in walk(model.stacks):
        if isinstance(part, Attention) and isinstance(part.qk_norm, QkNorm):
            norm = part.qk_norm.q
            bare = isinstance(norm, RmsNorm) and norm.weight is NormWeight.NONE
            if isinstance(part.position, Rotary) and not bare:
                return None
    return "there is no turn, or it keeps lengths and no weight tells features apart"


def _shared_gain(part: QkNorm) -> QkNorm:
    """One gain for all heads, where each has its own."""
    if part.over is not NormOver.PER_HEAD:
        return part
    q, k = replace(part.q, heads=None), replace(part.k, heads=None)
    return replace(part, over=NormOver.HEAD, q=q, k=k)


def _own_gains(part: Attention) -> Attention:
    """A gain for each head, where all share one."""
    norm = part.qk_norm
    if not isinstance(norm, QkNorm) or norm.over is not NormOver.HEAD:
        return part
    if norm.q.weight is NormWeight.NONE:
        return part
    q = replace(norm.q, heads=part.n_heads)
    k = replace(norm.k, heads=part.n_kv_heads)
    return replace(part, qk_norm=replace(norm, over=NormOver.PER_HEAD, q=q, k=k))


def _any_layer(part: Attention) -> Attention:
    return replace(part, scale_by_layer=False)


def _one_map(part: LatentAttention) -> LatentAttention:
    """Queries without a latent of their own."""
    if not isinstance(part.q, LowRank):
        return part
    return replace(part, q=replace(part.q.up, name="q_proj", inputs=part.q.down.inputs))


def _down_bias(part: LatentAttention) -> LatentAttention:
    """A bias of one of the maps to latents flipped."""
    if isinstance(part.q, Linear):
        return replace(part, kv_down=replace(part.kv_down, bias=not part.kv_down.bias))
    down = replace(part.q.down, bias=not part.q.down.bias)
    return replace(part, q=replace(part.q, down=down))


SCORES = (
    dropped(Attention, "clip"),
    scaled(Attention, "clip", 2),
    dropped(Attention, "softcap"),
    scaled(Attention, "softcap", 2),
    each("scale by layer left out", Attention, _any_layer),
    _named(each("", Attention, _own_gains), QkNorm, "a gain for each head"),
)

REACH: dict[str, tuple[Mutant, ...]] = {
    "Window": (
        _reach(Window, "left out", lambda _: None),
        Mutant("Window: chunks in its place", _both(_in_chunks)),
    ),
    "Chunk": (
        _reach(Chunk, "left out", lambda _: None),
        _reach(Chunk, "a window in its place", lambda chunk: Window(chunk.size)),
    ),
    "Sinks": (_named(dropped(Attention, "sinks"), Sinks, "left out"),),
    "PositionTemperature": (
        _named(dropped(Attention, "temperature"), PositionTemperature, "left out"),
        scaled(PositionTemperature, "floor", 2),
        scaled(PositionTemperature, "coefficient", 2),
    ),
    "OutputGate": (_named(dropped(Attention, "gate"), OutputGate, "left out"),),
}

QK_TURNS: tuple[Mutant, ...] = (
    replace(each("", Attention, _when, turned_alike), name="QkNorm: on the other side of the turn"),
    each("one gain for all heads", QkNorm, _shared_gain),
)

LATENT: dict[str, tuple[Mutant, ...]] = {
    "InverseSqrtSum": (
        dropped(InverseSqrtSum, "multiplier"),
        scaled(InverseSqrtSum, "multiplier", 2),
    ),
    "LowRank": (_named(each("", LatentAttention, _one_map), LowRank, "one map in its place"),),
    "LatentAttention": (
        each("bias of a map to latents flipped", LatentAttention, _down_bias),
        dropped(LatentAttention, "dropout"),
        dropped(LatentAttention, "output_dropout"),
    ),
}
