"""A feed-forward class: its projections, its activation and where it drops."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import Clamp, Glu, Mlp
from specc.ir.layers import Activation, Linear
from specc.ir.sizes import Constant, Size
from specc.render.citations import Citations
from specc.render.classes import PartClass
from specc.render.code import Scope
from specc.render.engine import lines, section

FUNCTIONS = {
    Activation.RELU: "F.relu({})",
    Activation.RELU_SQUARED: "F.relu({}).square()",
    Activation.GELU_ERF: "F.gelu({})",
    Activation.GELU_TANH: 'F.gelu({}, approximate="tanh")',
    Activation.SILU: "F.silu({})",
    Activation.TANH: "torch.tanh({})",
}

NAMES = {
    Activation.RELU: "ReLU",
    Activation.RELU_SQUARED: "squared ReLU",
    Activation.GELU_ERF: "exact GELU",
    Activation.GELU_TANH: "tanh GELU",
    Activation.SILU: "SiLU",
    Activation.TANH: "tanh",
}

GATED = {
    Activation.RELU: "ReGLU",
    Activation.GELU_ERF: "GEGLU",
    Activation.GELU_TANH: "GEGLU",
    Activation.SILU: "SwiGLU",
}


def activate(activation: Activation, value: str) -> str:
    """The call that applies an activation."""
    return FUNCTIONS[activation].format(value)


def gated_product(activation: Activation, clamp: Clamp | None, gate: str, up: str) -> str:
    """The hidden features of a gated feed-forward, made of two values."""
    if clamp is None:
        return f"{activate(activation, gate)} * {up}"
    return f"clamped_glu({gate}, {up}, self.alpha, self.limit, self.up_offset)"


def linear_code(linear: Linear, scope: Scope) -> str:
    """`nn.Linear(config.d_model, config.d_ff, bias=False)`."""
    bias = "" if linear.bias else ", bias=False"
    return f"nn.Linear({scope.width(linear.inputs)}, {scope.width(linear.outputs)}{bias})"


@dataclass(frozen=True)
class FeedForwardText:
    """What the templates of one feed-forward class print."""

    part: Mlp | Glu
    scope: Scope
    cite: Citations

    def number(self, number: Size | Constant) -> str:
        return self.scope.number(number)

    def linear(self, linear: Linear) -> str:
        return linear_code(linear, self.scope)

    @property
    def up(self) -> str:
        """The hidden features of a plain feed-forward."""
        return self._dropped(activate(self.part.activation, f"self.{self.part.up.name}(x)"))

    @property
    def gated(self) -> str:
        """The hidden features of a gated one."""
        if not isinstance(self.part, Glu):
            raise TypeError("a feed-forward without a gate")
        part = self.part
        gate, up = f"self.{part.gate.name}(x)", f"self.{part.up.name}(x)"
        return self._dropped(gated_product(part.activation, part.clamp, gate, up))

    @property
    def clamp(self) -> Clamp | None:
        """What replaces activation and product, if anything does."""
        return self.part.clamp if isinstance(self.part, Glu) else None

    def _dropped(self, value: str) -> str:
        dropout = self.part.hidden_dropout
        return value if dropout is None else f"self.{dropout.name}({value})"

    @property
    def down(self) -> str:
        value = f"self.{self.part.down.name}(hidden)"
        dropout = self.part.output_dropout
        return value if dropout is None else f"self.{dropout.name}({value})"


def feed_forward_section(cls: PartClass[Mlp | Glu], cite: Citations) -> str:
    """The text of one feed-forward class."""
    text = FeedForwardText(cls.part, cls.scope, cite)
    template = "feed_forward/glu" if isinstance(cls.part, Glu) else "feed_forward/mlp"
    return section(
        "feed_forward/class",
        name=cls.name,
        summary=_summary(cls.part),
        init_parameters=("self", "config: Config", *cls.parameters),
        init=_init(template, text),
        forward=lines(template, "forward", text),
    )


def _init(template: str, text: FeedForwardText) -> tuple[str, ...]:
    clamp = lines("feed_forward/clamp", "init", text) if text.clamp is not None else ()
    return clamp + lines(template, "init", text) + lines("feed_forward/dropouts", "init", text)


def _summary(part: Mlp | Glu) -> str:
    match part:
        case Mlp():
            return f"Two maps with {NAMES[part.activation]} between them, at each place alone."
        case Glu(clamp=Clamp()):
            return "A gate decides what passes, feature by feature, both within a limit."
        case Glu():
            name = GATED.get(part.activation)
            gate = f"A {NAMES[part.activation]} gate" if name is None else f"{name}: the gate"
            return f"{gate} decides what passes, feature by feature (Shazeer 2020)."
        case _:
            assert_never(part)
