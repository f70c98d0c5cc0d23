"""What the step templates of one attention class print: names, shapes, arguments, the formula."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.attention import (
    Attention,
    AttentionSource,
    Factor,
    FusedProjection,
    InverseSqrt,
    InverseSqrtSum,
    NormOver,
    QkNorm,
    SeparateProjections,
    Sinks,
    Unscaled,
)
from specc.ir.exhaustive import assert_never
from specc.ir.init import Normal
from specc.ir.layers import Linear
from specc.ir.positions import Alibi, Rotary
from specc.ir.sizes import Constant, Size, Width
from specc.render.citations import Citations
from specc.render.code import Scope
from specc.render.norms import NormTable
from specc.render.positions import Turns
from specc.render.views import ViewText


@dataclass(frozen=True)
class AttentionText:
    """What the step templates of one attention class print."""

    part: Attention
    scope: Scope
    norms: NormTable
    view: ViewText | None
    cite: Citations
    turns: Turns

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
    def keeps_memory(self) -> bool:
        """Whether a cache keeps the keys and values of a memory."""
        return self.part.cached and not self.is_self

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
        return "T" if self.view is None else self.view.keys

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

    def number(self, number: Size | Constant) -> str:
        return self.scope.number(number)

    def linear(self, linear: Linear) -> str:
        """The construction of one projection, its head widths under their local names."""
        outputs, inputs = self._width(linear.outputs), self._width(linear.inputs)
        projections = self.part.projections
        if isinstance(projections, FusedProjection) and linear is projections.qkv:
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
        if self.part.clip is not None:
            value = f"{value}.clamp(-self.clip, self.clip)"
        if isinstance(norm, QkNorm) and norm.over is NormOver.FULL and letter != "v":
            return f"self.{norm.q.name if letter == 'q' else norm.k.name}({value})"
        return value

    @property
    def out(self) -> str:
        """The merged heads, projected and maybe dropped."""
        merged = "merge_heads(heads)"
        if self.part.gate is not None:
            merged = f"gate * {merged}"
        value = f"self.{self.part.output.name}({merged})"
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
        value = self._scale
        if not self.part.scale_by_layer:
            return value
        return f"{value} / layer"

    @property
    def _scale(self) -> str:
        match self.part.scale:
            case InverseSqrt(size):
                return f"{self.scope.number(size)} ** -0.5"
            case Factor(value):
                return self.scope.number(value)
            case Unscaled():
                return "1.0"
            case InverseSqrtSum():
                raise TypeError("a sum of widths is for latent attention")
            case _:
                assert_never(self.part.scale)

    @property
    def default_scale(self) -> bool:
        scale = self.part.scale
        if self.part.scale_by_layer:
            return False
        return isinstance(scale, InverseSqrt) and scale.width.name == self.part.head_dim.name

    @property
    def kept_scale(self) -> bool:
        """Whether the module keeps the scale as a number."""
        plain = isinstance(self.part.scale, Unscaled) and not self.part.scale_by_layer
        return not self.default_scale and not plain

    @property
    def scale_argument(self) -> str:
        return "self.scale" if self.kept_scale else self.scale_value

    @property
    def weight_arguments(self) -> str:
        """What the explicit attention weights are computed from."""
        scale = "self.head_dim**-0.5" if self.default_scale else self.scale_argument
        causal = [] if self.is_causal is None else [f"is_causal={self.is_causal}"]
        mask = "None" if self.is_self and self.view is None else self.mask
        cap = ["softcap=self.softcap"] if self.part.softcap is not None else []
        sinks = [f"sinks=self.{self.part.sinks.name}"] if self.part.sinks is not None else []
        return ", ".join(["q", "k", mask, scale, *causal, *cap, *sinks])

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
        elif isinstance(self.part.scale, InverseSqrt) and self.part.softcap is None:
            scores = f"q k^T / sqrt({self.part.scale.width.name})"
        if self.part.softcap is not None:
            scores = f"cap * tanh({scores} / cap)"
        if isinstance(self.part.position, Alibi):
            scores += " + bias"
        return f"softmax({scores}{', sink' if self.part.sinks else ''}) v"

    @property
    def weights(self) -> str:
        """The explicit weights, dropped while training."""
        dropout = self.part.dropout
        if dropout is None:
            return "weights"
        return f"F.dropout(weights, self.{dropout.name}, self.training)"

    @property
    def sinks_fill(self) -> str:
        """How the sinks start."""
        match self.part.sinks:
            case Sinks(name, init=Normal()):
                return f"nn.init.normal_(self.{name}, std=self.init_std)"
            case Sinks(name):
                return f"nn.init.zeros_(self.{name})"
            case None:
                raise TypeError("an attention without sinks")

    @property
    def sinks_std(self) -> Constant | None:
        """The deviation that random sinks start with."""
        sinks = self.part.sinks
        return sinks.init.std if sinks is not None and isinstance(sinks.init, Normal) else None

    @property
    def rotate(self) -> str:
        """The function that turns this attention's heads."""
        if not isinstance(self.part.position, Rotary):
            raise TypeError("an attention that turns nothing")
        return self.turns.function(self.part.position)

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
