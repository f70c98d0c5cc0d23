"""The heads: the modules that they add to the model, and the lines that make each named output."""

from __future__ import annotations

from dataclasses import dataclass, replace

from specc.ir.exhaustive import assert_never
from specc.ir.heads import (
    ClassifierHead,
    FeaturesHead,
    Head,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Pool,
    Tied,
)
from specc.ir.layers import Linear
from specc.ir.sizes import Size
from specc.render.citations import Citations
from specc.render.code import Scope
from specc.render.engine import lines
from specc.render.feed_forward import activate, linear_code
from specc.render.norms import NormTable

TEMPLATES: dict[type[Head], str] = {
    LanguageModelHead: "heads/language_model",
    MaskedLanguageModelHead: "heads/masked_language_model",
    ClassifierHead: "heads/classifier",
    FeaturesHead: "heads/features",
}


@dataclass(frozen=True)
class HeadText:
    """What the templates of one head print."""

    head: Head
    norms: NormTable
    mask: str | None  # the name of the tokens' mask in `forward`; None: nothing is padded
    x: str  # the features that it reads
    length: str
    last_only: bool  # whether a call may ask for the last token alone
    cite: Citations

    scope = Scope()

    @property
    def template(self) -> str:
        return TEMPLATES[type(self.head)]

    def number(self, size: Size) -> str:
        return self.scope.number(size)

    def linear(self, linear: Linear) -> str:
        return linear_code(linear, self.scope)

    @property
    def projection(self) -> Linear | Tied:
        """The map to the vocabulary."""
        if isinstance(self.head, LanguageModelHead | MaskedLanguageModelHead):
            return self.head.projection
        raise TypeError("a head without a vocabulary")

    @property
    def own_projection(self) -> Linear | None:
        return self.projection if isinstance(self.projection, Linear) else None

    @property
    def tied(self) -> Tied | None:
        return self.projection if isinstance(self.projection, Tied) else None

    @property
    def norm(self) -> str:
        if not isinstance(self.head, MaskedLanguageModelHead):
            raise TypeError("a head without a norm")
        return self.norms.code(self.head.norm, self.scope)

    @property
    def transformed(self) -> str:
        """A masked language model's transform of the features."""
        if not isinstance(self.head, MaskedLanguageModelHead):
            raise TypeError("a head without a transform")
        return activate(self.head.activation, f"self.{self.head.dense.name}({self.x})")

    @property
    def pooled(self) -> str:
        """One vector for all places."""
        if not isinstance(self.head, ClassifierHead):
            raise TypeError("a head that does not pool")
        match self.head.pool:
            case Pool.FIRST:
                return f"{self.x}[:, 0]"
            case Pool.MEAN if self.mask is None:
                return f"{self.x}.mean(dim=1)"
            case Pool.MEAN:
                return f"mean_pool({self.x}, {self.mask})"
            case _:
                assert_never(self.head.pool)

    @property
    def pooler(self) -> str:
        """The pooled vector through its own map."""
        if not isinstance(self.head, ClassifierHead) or self.head.pooler is None:
            raise TypeError("a head without a pooler")
        return activate(self.head.pooler.activation, f"self.{self.head.pooler.dense.name}(pooled)")

    @property
    def logits(self) -> str:
        """What a language model makes of its features, all multipliers included."""
        head = self.language_model
        value = self.x
        if head.in_scale is not None:
            value = f"{value} * self.config.{head.in_scale.name}"
        if head.project is not None:
            value = f"self.{head.project.name}({value})"
        value = self.vocabulary(value)
        if head.vocab_size is not None:
            value = f"{value}[..., : self.config.{head.vocab_size.name}]"
        if head.out_scale is not None:
            value = f"{value} * self.config.{head.out_scale.name}"
        return value

    @property
    def language_model(self) -> LanguageModelHead:
        if not isinstance(self.head, LanguageModelHead):
            raise TypeError("a head that is no language model")
        return self.head

    @property
    def predicts(self) -> bool:
        """Whether it says which token comes next."""
        return isinstance(self.head, LanguageModelHead)

    @property
    def capped(self) -> str:
        """The softcap of the logits."""
        if self.language_model.softcap is None:
            raise TypeError("a head whose logits are not capped")
        cap = f"self.config.{self.language_model.softcap.name}"
        return f"{cap} * torch.tanh(logits / {cap})"

    def vocabulary(self, value: str) -> str:
        """The logits of a value."""
        match self.projection:
            case Linear(name):
                return f"self.{name}({value})"
            case Tied(embedding, None):
                return f"F.linear({value}, self.{embedding.name}.weight)"
            case Tied(embedding, bias):
                return f"F.linear({value}, self.{embedding.name}.weight, self.{bias})"
            case _:
                assert_never(self.projection)

    @property
    def value(self) -> str:
        """The output itself."""
        match self.head:
            case LanguageModelHead():
                return self.capped if self.head.softcap else self.logits
            case MaskedLanguageModelHead():
                return self.vocabulary("transformed")
            case ClassifierHead():
                return f"self.{self.head.projection.name}(pooled)"
            case FeaturesHead():
                return self.x
            case _:
                assert_never(self.head)

    @property
    def shape(self) -> str:
        """The output's shape comment."""
        match self.head:
            case LanguageModelHead() if self.last_only:
                return f"[B, {self.length}, V] or [B, 1, V]"
            case LanguageModelHead() | MaskedLanguageModelHead():
                return f"[B, {self.length}, V]"
            case ClassifierHead():
                size = self.head.n_classes  # C is one number; several heads name their own
                return f"[B, {'C' if size.name == 'n_classes' else size.name}]"
            case FeaturesHead():
                return f"[B, {self.length}, D]"
            case _:
                assert_never(self.head)

    def init(self) -> list[str]:
        """The lines that make its modules."""
        return list(lines(self.template, "init", self))

    def fill(self) -> list[str]:
        """The lines that initialise what no module of its own holds."""
        return list(lines(self.template, "fill", self))

    def forward(self) -> list[str]:
        """The lines before its value."""
        return list(lines(self.template, "forward", self))


def returning(heads: list[HeadText], result: str, attention_weights: bool) -> list[str]:
    """The last lines of `forward`: a Tensor, or an Output of several. `result` are the last
    features.
    """
    found: list[str] = []
    cut = any(head.last_only for head in heads)
    if cut and len(heads) == 1:
        found = ["if last_only:", "    x = x[:, -1:]  # [B, 1, D]"]
    if len(heads) > 1 and result != "x":
        found, result = [f"x = {result}"], "x"
    if cut and len(heads) > 1:
        found.append("last = x[:, -1:] if last_only else x  # [B, T, D] or [B, 1, D]")
    heads = [
        replace(head, x="last" if cut and head.predicts and len(heads) > 1 else result)
        for head in heads
    ]
    if len(heads) == 1 and not attention_weights:
        return [*found, *heads[0].forward(), f"return {heads[0].value}  # {heads[0].shape}"]
    for head in heads:
        found += [*head.forward(), f"{head.head.output_name} = {head.value}  # {head.shape}"]
    names = [head.head.output_name for head in heads]
    if attention_weights:
        names.append("tuple(seen[i] for i in attention_layers)")
    return [*found, f"return Output({', '.join(names)})"]
