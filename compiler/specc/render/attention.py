"""An attention class as a list of steps: project, norm, turn, remember, attend, project out.

Each step is a small template with the lines that it adds to `__init__` and to `forward`; the class
template only
loops over them. What the steps print (names, shapes, arguments) is worked out here, from the part
alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specc.ir.attention import (
    Attention,
    AttentionSource,
    Factor,
    FusedProjection,
    InverseSqrt,
    NormOver,
    QkL2Norm,
    QkNorm,
    SeparateProjections,
    Unscaled,
)
from specc.ir.exhaustive import assert_never
from specc.ir.layers import Linear
from specc.ir.positions import Alibi, Rotary
from specc.ir.sizes import Size, Width
from specc.render.citations import Citations
from specc.render.classes import PartClass
from specc.render.code import Scope
from specc.render.engine import lines, section
from specc.render.norms import NormTable
from specc.render.views import ViewText


@dataclass(frozen=True)
class AttentionText:
    """What the step templates of one attention class print."""

    part: Attention
    scope: Scope
    norms: NormTable
    view: ViewText | None
    cite: Citations

    @property
    def is_self(self) -> bool:
        return self.part.source is AttentionSource.SELF

    def cited(self, *fields: str) -> str:
        """Comment lines for fields of this attention; cross-attention inherits what nothing else
        took.
        """
        own = [f"cross_attention{field}" for field in fields] if not self.is_self else []
        return self.cite.at(*own, *(f"attention{field}" for field in fields))

    @property
    def source(self) -> str:
        """Where keys and values come from."""
        return "x" if self.is_self else "memory"

    @property
    def kv(self) -> str:
        return "K" if self.part.is_grouped else "H"

    @property
    def new(self) -> str:
        """The letter of the new keys' length."""
        return "T" if self.is_self else "M"

    @property
    def all(self) -> str:
        """The letter of the length of all keys that are looked at."""
        if not self.is_self:
            return "M"
        return "S" if self.part.cached else "T"

    @property
    def q_shape(self) -> str:
        return "[B, H, T, E]"

    @property
    def kv_shape(self) -> str:
        return f"[B, {self.kv}, {self.new}, E]"

    @property
    def q_width(self) -> str:
        return "q_width" if self.part.is_grouped else "width"

    @property
    def kv_width(self) -> str:
        return "kv_width" if self.part.is_grouped else "width"

    def number(self, size: Size) -> str:
        return self.scope.number(size)

    def linear(self, linear: Linear) -> str:
        """The construction of one projection, its head widths under their local names."""
        outputs, inputs = self._width(linear.outputs), self._width(linear.inputs)
        if isinstance(self.part.projections, FusedProjection) and linear is not self.part.output:
            outputs = "q_width + 2 * kv_width" if self.part.is_grouped else "3 * width"
        return f"nn.Linear({inputs}, {outputs}{'' if linear.bias else ', bias=False'})"

    def _width(self, width: Width) -> str:
        """A width in code, the widths of all heads under their local names."""
        part = self.part
        local = {
            Width(((part.n_heads, part.head_dim),)): self.q_width,
            Width(((part.n_kv_heads, part.head_dim),)): self.kv_width,
        }
        return local.get(width) or self.scope.width(width)

    @property
    def q(self) -> str:
        """The flat queries [B, T, H*E], normed if the norm runs over all heads."""
        return self._flat("q", "x")

    @property
    def k(self) -> str:
        return self._flat("k", self.source)

    @property
    def v(self) -> str:
        return self._flat("v", self.source)

    def _flat(self, letter: str, source: str) -> str:
        projections, norm = self.part.projections, self.part.qk_norm
        value = letter
        if isinstance(projections, SeparateProjections):
            linear = {"q": projections.q, "k": projections.k, "v": projections.v}[letter]
            value = f"self.{linear.name}({source})"
        if isinstance(norm, QkNorm) and norm.over is NormOver.FULL and letter != "v":
            return f"self.{norm.q.name if letter == 'q' else norm.k.name}({value})"
        return value

    @property
    def out(self) -> str:
        """The merged heads, projected and maybe dropped."""
        value = f"self.{self.part.output.name}(merge_heads(heads))"
        dropout = self.part.output_dropout
        return value if dropout is None else f"self.{dropout.name}({value})"

    def norm(self, letter: str) -> str:
        """The construction of q's or k's norm."""
        if not isinstance(self.part.qk_norm, QkNorm):
            raise TypeError("an attention without a norm of its queries")
        return self.norms.code(
            self.part.qk_norm.q if letter == "q" else self.part.qk_norm.k, self.scope
        )

    @property
    def scale_value(self) -> str:
        """The number kept on the module when SDPA's own scale does not fit."""
        match self.part.scale:
            case InverseSqrt(size):
                return f"{self.scope.number(size)} ** -0.5"
            case Factor(value):
                return self.scope.number(value)
            case Unscaled():
                return "1.0"
            case _:
                assert_never(self.part.scale)

    @property
    def default_scale(self) -> bool:
        scale = self.part.scale
        return isinstance(scale, InverseSqrt) and scale.width.name == self.part.head_dim.name

    @property
    def kept_scale(self) -> bool:
        """Whether the module keeps the scale as a number."""
        return not self.default_scale and not isinstance(self.part.scale, Unscaled)

    @property
    def scale_argument(self) -> str:
        return "self.scale" if self.kept_scale else self.scale_value

    @property
    def weight_arguments(self) -> str:
        """What the explicit attention weights are computed from."""
        scale = "self.head_dim**-0.5" if self.default_scale else self.scale_argument
        causal = [] if self.is_causal is None else [self.is_causal]
        mask = "None" if self.is_self and self.view is None else self.mask
        return ", ".join(["q", "k", mask, *causal, scale])

    @property
    def mask(self) -> str:
        return self.view.mask if self.is_self and self.view else "memory_mask"

    @property
    def is_causal(self) -> str | None:
        return self.view.is_causal if self.is_self and self.view else None

    @property
    def formula(self) -> str:
        """The product in one line, as the paper writes it."""
        scores = "q k^T" if isinstance(self.part.scale, Unscaled) else "scale * q k^T"
        if self.default_scale:
            scores = "q k^T / sqrt(E)"
        elif isinstance(self.part.scale, InverseSqrt):
            scores = f"q k^T / sqrt({self.part.scale.width.name})"
        return f"softmax({scores}{' + bias' if isinstance(self.part.position, Alibi) else ''}) v"

    @property
    def arguments(self) -> str:
        """What SDPA takes besides q, k and v."""
        given = [] if self.is_self and self.view is None else [f"attn_mask={self.mask}"]
        if self.part.dropout is not None:
            given.append("dropout_p=dropout")
        if self.is_causal is not None:
            given.append(f"is_causal={self.is_causal}")
        if not self.default_scale:
            given.append(f"scale={self.scale_argument}")
        if self.part.is_grouped:
            given.append("enable_gqa=True")
        return ", ".join(["q", "k", "v", *given])


def steps(part: Attention) -> tuple[str, ...]:
    """The templates of one attention, in the order of its lines."""
    fused = isinstance(part.projections, FusedProjection)
    found = ["attention/project_fused" if fused else "attention/project_separate"]
    match part.qk_norm:
        case QkNorm(over=NormOver.HEAD):
            found.append("attention/norm_heads")
        case QkNorm():
            found.append("attention/norm_full")
        case QkL2Norm():
            found.append("attention/norm_l2")
        case None:
            pass
        case _:
            assert_never(part.qk_norm)
    if isinstance(part.position, Rotary):
        found.append("attention/rotate")
    if part.cached:
        found.append("attention/remember")
    found.append("attention/attend")
    if part.gives_weights:
        found.append("attention/give_weights")
    return (*found, "attention/project_out")


def helpers(part: Attention) -> tuple[str, ...]:
    """The functions that the steps call."""
    found = ["split_heads", "merge_heads"]
    if isinstance(part.position, Rotary):
        found.append("rotate")
    if part.gives_weights:
        found.append("attention_weights")
    return tuple(found)


def attention_section(
    cls: PartClass[Attention], norms: NormTable, view: ViewText | None, cite: Citations
) -> str:
    """The text of one attention class."""
    text = AttentionText(cls.part, cls.scope, norms, view, cite)
    found = steps(cls.part)
    return section(
        "attention/class",
        name=cls.name,
        summary=_summary(cls.part),
        init_parameters=("self", "config: Config", *cls.parameters),
        init=_joined([lines(name, "init", text) for name in found]),
        fills=[line for name in found for line in lines(name, "fill", text)],
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


_OPENERS = ("attention/norm_heads", "attention/norm_l2", "attention/attend")


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
