"""The class of a mixture of experts: how its router weighs and chooses, how tokens are grouped."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import (
    Apply,
    Clamp,
    Experts,
    GroupFill,
    Groups,
    GroupScore,
    MixtureOfExperts,
    Router,
    Score,
    SharedExpert,
)
from specc.ir.init import FanInUniform, Fill, Normal, XavierUniform
from specc.ir.layers import Linear
from specc.ir.sizes import Constant, Size
from specc.render.citations import Citations
from specc.render.classes import PartClass
from specc.render.code import Scope
from specc.render.engine import lines, section
from specc.render.feed_forward import gated_product, linear_code

GROUP_SCORES = {
    GroupScore.MAX: "grouped.amax(dim=-1)",
    GroupScore.TOP2_SUM: "grouped.topk(2, dim=-1).values.sum(dim=-1)",
}
GROUP_FILLS = {GroupFill.ZERO: "0.0", GroupFill.MINUS_INFINITY: "-math.inf"}


@dataclass(frozen=True)
class ExpertsText:
    """What the templates of one class of experts print. `shared` constructs the shared expert."""

    part: MixtureOfExperts
    scope: Scope
    cite: Citations
    shared: str | None

    @property
    def experts(self) -> Experts:
        return self.part.experts

    @property
    def router(self) -> Router:
        return self.part.router

    @property
    def groups(self) -> Groups | None:
        return self.router.groups

    @property
    def shared_part(self) -> SharedExpert | None:
        return self.part.shared

    @property
    def clamp(self) -> Clamp | None:
        return self.experts.clamp

    def number(self, number: Size | Constant) -> str:
        return self.scope.number(number)

    def linear(self, linear: Linear) -> str:
        return linear_code(linear, self.scope)

    @property
    def router_numbers(self) -> list[str]:
        """What the router keeps of `Config`."""
        found = [f"self.top_k = {self.number(self.router.top_k)}"]
        if self.router.renorm_eps is not None:
            found.append(f"self.renorm_eps = {self.number(self.router.renorm_eps)}")
        if self.router.scale is not None:
            found.append(f"self.scale = {self.number(self.router.scale)}")
        if isinstance(self.experts.init, Normal):
            found.append(f"self.init_std = {self.number(self.experts.init.std)}")
        return found

    @property
    def is_normal(self) -> bool:
        return isinstance(self.experts.init, Normal)

    @property
    def is_xavier(self) -> bool:
        return isinstance(self.experts.init, XavierUniform)

    @property
    def is_fan_in(self) -> bool:
        return isinstance(self.experts.init, FanInUniform)

    @property
    def has_random_biases(self) -> bool:
        return self.experts.bias and isinstance(self.experts.bias_init, FanInUniform)

    @property
    def zeros(self) -> list[str]:
        """Tensors that start from zero."""
        part = self.experts
        biases = [f"{name}_bias" for name in (part.gate, part.up, part.down)]
        found = biases if part.bias and not self.has_random_biases else []
        if isinstance(part.init, Fill):
            found = [part.gate, part.up, part.down, *found]
        return [*found, *filter(None, (self.router.selection_bias,))]

    @property
    def score(self) -> str:
        """What experts are compared by."""
        match self.router.score:
            case Score.SOFTMAX:
                return "logits.softmax(dim=-1)"
            case Score.SIGMOID:
                return "logits.sigmoid()"
            case Score.TOPK_SOFTMAX:
                return "logits"
            case _:
                assert_never(self.router.score)

    @property
    def selects_by_weight(self) -> bool:
        """Whether the best scores are the weights: nothing else has a say in the selection."""
        return self.router.selection_bias is None and self.groups is None

    @property
    def softens_the_chosen(self) -> bool:
        return self.router.score is Score.TOPK_SOFTMAX

    @property
    def score_name(self) -> str:
        return "logits" if self.softens_the_chosen else "score"

    @property
    def score_line(self) -> str:
        return "" if self.softens_the_chosen else f"score = {self.score}  # [B*T, X]"

    @property
    def selection(self) -> str:
        """What the choice is made from, groups apart."""
        return self.score_name if self.router.selection_bias is None else "selection"

    @property
    def renormalised(self) -> str | None:
        if not self.router.renormalise:
            return None
        total = "weight.sum(dim=-1, keepdim=True)"
        if self.router.renorm_eps is not None:
            return f"weight / ({total} + self.renorm_eps)"
        return f"weight / {total}"

    @property
    def final_weight(self) -> str:
        return "weight" if self.router.scale is None else "self.scale * weight"

    @property
    def group_score(self) -> str | None:
        return None if self.groups is None else GROUP_SCORES[self.groups.score]

    @property
    def group_fill(self) -> str | None:
        return None if self.groups is None else GROUP_FILLS[self.groups.fill]

    @property
    def weighs_input(self) -> bool:
        return self.router.apply is Apply.INPUT

    @property
    def given(self) -> str:
        """The shapes of what one call of `expert` reads."""
        return "[J, D] or [A, 1, D]" if self.weighs_input else "[J, D]"

    @property
    def expert_move(self) -> str:
        """What `expert` gives, where its first line is short enough to say so."""
        return "" if self.weighs_input or self.experts.bias else ": [J, D] -> [J, D] or [A, 1, D]"

    @property
    def hidden(self) -> str:
        """The hidden features of an expert."""
        gate, up = "gate", "up"
        if not self.experts.bias:
            gate, up = "x @ gate.mT", "x @ up.mT" if self.clamp else "(x @ up.mT)"
        return gated_product(self.experts.activation, self.clamp, gate, up)

    @property
    def result(self) -> str:
        """The sum of the chosen experts and the shared one, dropped where the spec says so."""
        shared = self.shared_part
        if shared is None:
            return self._dropped("mix(tokens, weight, chosen).view_as(x)")
        gate = "" if shared.gate is None else f"torch.sigmoid(self.{shared.gate.name}(x)) * "
        return self._dropped(f"mixed + {gate}self.{shared.name}(x)")

    def _dropped(self, value: str) -> str:
        dropout = self.part.output_dropout
        return value if dropout is None else f"self.{dropout.name}({value})"


def experts_section(cls: PartClass[MixtureOfExperts], shared: str | None, cite: Citations) -> str:
    """The text of one class; `shared` is the construction of the shared expert."""
    text = ExpertsText(cls.part, cls.scope, cite, shared)
    methods = [
        ("experts/reset", "reset_parameters"),
        ("experts/router", "route"),
        *([("experts/groups", "in_kept_groups")] if text.groups else []),
        ("experts/maps", "stacked"),
        ("experts/maps", "expert"),
        ("experts/mix", "group_tokens"),
        ("experts/mix", "gather_experts"),
        ("experts/mix", "forward"),
    ]
    return section(
        "experts/class",
        name=cls.name,
        summary="Each token passes A of X experts, chosen by a router (Shazeer et al. 2017).",
        buffers=lines("experts/router", "buffers", text),
        init_parameters=("self", "config: Config", *cls.parameters),
        init=_init(text),
        methods=[lines(template, macro, text) for template, macro in methods],
    )


def _init(text: ExpertsText) -> tuple[str, ...]:
    found = lines("experts/router", "init", text)
    if text.groups is not None:
        found += lines("experts/groups", "init", text)
    if text.clamp is not None:
        found += lines("feed_forward/clamp", "init", text)
    found += lines("experts/maps", "init", text)
    if text.shared_part is not None:
        found += lines("experts/shared", "init", text)
    return found + lines("experts/mix", "init", text)
