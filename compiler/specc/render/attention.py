"""An attention class as a list of steps: project, norm, turn, remember, attend, project out.

Each step is a small template with the lines that it adds to `__init__` and to `forward`; the class
template only
loops over them. What the steps print (names, shapes, arguments) is worked out here, from the part
alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from specc.ir.attention import (
    Attention,
    AttentionSource,
    FusedProjection,
    NormOver,
    QkL2Norm,
    QkNorm,
)
from specc.ir.exhaustive import assert_never
from specc.ir.positions import Rotary
from specc.render.attention_text import AttentionText
from specc.render.classes import PartClass
from specc.render.engine import lines, section


def steps(part: Attention) -> tuple[str, ...]:
    """The templates of one attention, in the order of its lines."""
    fused = isinstance(part.projections, FusedProjection)
    found = ["attention/clip"] if part.clip is not None else []
    found.append("attention/project_fused" if fused else "attention/project_separate")
    turned = ["attention/rotate"] if isinstance(part.position, Rotary) else []
    match part.qk_norm:
        case QkNorm(over=NormOver.FULL):
            found += ["attention/norm_full", *turned]
        case QkNorm(after_turn=True):
            found += [*turned, "attention/norm_turned"]
        case QkNorm():
            found += ["attention/norm_heads", *turned]
        case QkL2Norm():
            found += ["attention/norm_l2", *turned]
        case None:
            found += turned
        case _:
            assert_never(part.qk_norm)
    if part.temperature is not None:
        found.append("attention/warm")
    if part.cached and part.source is AttentionSource.SELF:
        found.append("attention/remember")
    if is_explicit(part):
        found.append("attention/attend_explicitly")
    else:
        found.append("attention/attend")
        found += ["attention/give_weights"] if part.gives_weights else []
    if part.gate is not None:
        found.append("attention/gate")
    return (*found, "attention/project_out")


def is_explicit(part: Attention) -> bool:
    """Whether the scores need what SDPA cannot say."""
    return part.softcap is not None or part.sinks is not None


def attention_section(cls: PartClass[Attention], text: AttentionText) -> str:
    """The text of one attention class."""
    found = steps(cls.part)
    fills = [line for name in found for line in lines(name, "fill", text)]
    init = _joined([lines(name, "init", text) for name in found])
    if text.sinks_std is not None:
        init.append(f"self.init_std = {text.number(text.sinks_std)}")
    by_layer = ["layer: int"] if cls.part.scale_by_layer else []
    return section(
        "attention/class",
        name=cls.name,
        summary=_summary(cls.part),
        init_parameters=("self", "config: Config", *cls.parameters, *by_layer),
        init=init,
        fills=fills,
        parameters=_parameters(text),
        returns="tuple[Tensor, Tensor | None]" if cls.part.gives_weights else "Tensor",
        forward=_joined([lines(name, "forward", text) for name in found], gaps=found),
    )


def _joined(groups: Sequence[Sequence[str]], gaps: Sequence[str] = ()) -> list[str]:
    """The groups' lines in one list, with a blank line before the steps that open a new thought."""
    found: list[str] = []
    for i, group in enumerate(groups):
        if i and i < len(gaps) and gaps[i] in _OPENERS and group:
            found.append("")
        found.extend(group)
    return found


_OPENERS = (
    "attention/norm_heads",
    "attention/norm_l2",
    "attention/attend",
    "attention/attend_explicitly",
)


def _parameters(text: AttentionText) -> list[str]:
    found = ["x: Tensor,  # [B, T, D]"]
    if text.is_self:
        if text.view is not None:
            found.append(text.view.parameter)
    else:
        found.append("memory: Tensor,  # [B, M, D]")
        found.append("memory_mask: Tensor | None,  # [B, 1, 1, M], True = may look")
    if text.part.cached:
        found.append("cache: LayerCache | None,")
    if text.part.gives_weights:
        found.append("with_weights: bool,")
    return found


def _summary(part: Attention) -> str:
    """One sentence: whose keys are read, and how heads share them."""
    if not part.is_grouped and part.source is AttentionSource.MEMORY:
        return "Multi-head attention from x to a memory."
    if not part.is_grouped:
        return "Multi-head self-attention."
    if part.source is AttentionSource.MEMORY:
        return "Grouped-query cross-attention: query head h reads memory head h // (H/K)."
    return "Grouped-query self-attention: query head h reads key/value head h // (H/K)."
