"""A latent attention class: queries asked, keys and values compressed, remembered and unfolded."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.attention import LatentAttention, LowRank
from specc.ir.layers import Linear, Norm
from specc.ir.sizes import Constant, Size, Width
from specc.render.citations import Citations
from specc.render.classes import PartClass
from specc.render.code import Scope
from specc.render.engine import lines, section
from specc.render.norms import NormTable
from specc.render.positions import Turns
from specc.render.views import ViewText

_PARTS = ("ask", "compress", "unfold", "attend")


@dataclass(frozen=True)
class LatentText:
    """What the templates of one latent attention class print."""

    part: LatentAttention
    scope: Scope
    norms: NormTable
    view: ViewText
    cite: Citations
    turns: Turns

    def number(self, number: Size | Constant) -> str:
        return self.scope.number(number)

    def width(self, width: Width) -> str:
        return self.scope.width(width)

    def norm(self, norm: Norm) -> str:
        return self.norms.code(norm, self.scope)

    def bias(self, linear: Linear) -> str:
        return "" if linear.bias else ", bias=False"

    @property
    def all(self) -> str:
        """The letter of the length of all keys that are looked at."""
        return self.view.keys

    @property
    def rotate(self) -> str:
        return self.turns.function(self.part.position)

    @property
    def queries(self) -> list[str]:
        """The lines that make the maps of the queries."""
        d_model, q = self.number(self.part.d_model), self.part.q
        width = f"{self.number(self.part.n_heads)} * head_width"
        if isinstance(q, Linear):
            return [f"self.{q.name} = nn.Linear({d_model}, {width}{self.bias(q)})"]
        rank = self.width(q.down.outputs)
        return [
            f"self.{q.down.name} = nn.Linear({d_model}, {rank}{self.bias(q.down)})",
            f"self.{q.norm.name} = {self.norm(q.norm)}",
            f"q_width = {width}",
            f"self.{q.up.name} = nn.Linear({rank}, q_width{self.bias(q.up)})",
        ]

    @property
    def low_rank(self) -> LowRank | None:
        """The queries' own latent, where they have one."""
        return self.part.q if isinstance(self.part.q, LowRank) else None

    @property
    def asked(self) -> str:
        """The flat queries."""
        q = self.part.q
        if isinstance(q, LowRank):
            return f"self.{q.up.name}(low)"
        return f"self.{q.name}(x)"

    @property
    def scale(self) -> str:
        multiplier = self.part.scale.multiplier
        value = "head_width**-0.5"
        return value if multiplier is None else f"{self.number(multiplier)} * {value}"

    @property
    def formula(self) -> str:
        times = "" if self.part.scale.multiplier is None else "multiplier * "
        return f"softmax({times}q k^T / sqrt(N + R)) v"

    @property
    def arguments(self) -> str:
        """What SDPA takes."""
        given = ["q", "k", "v", f"attn_mask={self.view.mask}"]
        if self.part.dropout is not None:
            given.append("dropout_p=dropout")
        if self.view.is_causal is not None:
            given.append(f"is_causal={self.view.is_causal}")
        return ", ".join([*given, "scale=self.scale"])

    @property
    def out(self) -> str:
        """The merged heads, projected and maybe dropped."""
        value = f"self.{self.part.output.name}(merge_heads(heads))"
        dropout = self.part.output_dropout
        return value if dropout is None else f"self.{dropout.name}({value})"


def latent_section(cls: PartClass[LatentAttention], text: LatentText) -> str:
    """The text of one latent attention class."""
    forward: list[str] = []
    for name in _PARTS:
        forward += [*([""] if forward else []), *lines("attention/latent", name, text)]
    parameters = ["x: Tensor,  # [B, T, D]", text.view.parameter]
    return section(
        "attention/class",
        name=cls.name,
        summary="Keys and values unfold from one latent a token (DeepSeek-AI 2024, §2.1).",
        init_parameters=("self", "config: Config", *cls.parameters),
        init=lines("attention/latent", "init", text),
        fills=[],
        parameters=parameters + (["cache: LayerCache | None,"] if cls.part.cached else []),
        returns="Tensor",
        forward=forward,
    )
