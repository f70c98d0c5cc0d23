"""What a config asks of a model, read off the IR once: sizes, and what each layer is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from specc.ir.attention import (
    Attention,
    Factor,
    InverseSqrt,
    LatentAttention,
    QkNorm,
    Unscaled,
    Window,
)
from specc.ir.block import Block, Residual, Stack, TokenInput, Wiring
from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import FeedForward, Glu, MixtureOfExperts, Mlp
from specc.ir.heads import LanguageModelHead, Tied
from specc.ir.layers import Activation, LayerNorm, Norm, NormWeight, RmsNorm
from specc.ir.model import Model
from specc.ir.positions import Alibi, LearnedPosition, Rotary

Part = TypeVar("Part")

ACTIVATIONS = {
    Activation.RELU: "relu",
    Activation.RELU_SQUARED: "relu2",
    Activation.GELU_ERF: "gelu",
    Activation.GELU_TANH: "gelu_pytorch_tanh",
    Activation.SILU: "silu",
    Activation.TANH: "tanh",
}


class NoDialectError(Exception):
    """The model is one that no known config can describe."""


@dataclass(frozen=True)
class Facts:
    """One model of one stack. Raises NoDialectError where something asked for is not there."""

    model: Model

    @cached_property
    def stack(self) -> Stack:
        return self.model.stacks[-1]

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """Layer by layer."""
        return tuple(layer.block for layer in self.stack.layers)

    @cached_property
    def bodies(self) -> tuple[object, ...]:
        return tuple(sub.body for block in self.blocks for sub in block.sublayers)

    @cached_property
    def attentions(self) -> tuple[Attention, ...]:
        """One a layer; without latent ones."""
        return tuple(body for body in self.bodies if isinstance(body, Attention))

    @cached_property
    def feed_forwards(self) -> tuple[FeedForward, ...]:
        """One a layer."""
        return tuple(b for b in self.bodies if isinstance(b, Mlp | Glu | MixtureOfExperts))

    @property
    def attention(self) -> Attention:
        return self._first(self.attentions, "attention")

    @cached_property
    def latent(self) -> LatentAttention:
        found = tuple(body for body in self.bodies if isinstance(body, LatentAttention))
        return self._first(found, "latent attention")

    @cached_property
    def experts(self) -> MixtureOfExperts:
        found = tuple(body for body in self.bodies if isinstance(body, MixtureOfExperts))
        return self._first(found, "experts")

    @cached_property
    def dense(self) -> Mlp | Glu:
        found = tuple(body for body in self.bodies if isinstance(body, Mlp | Glu))
        return self._first(found, "feed-forward without experts")

    @property
    def d_ff(self) -> int:
        """Of dense layers, or where there are none, of the experts."""
        if any(isinstance(body, Mlp | Glu) for body in self.feed_forwards):
            return self.dense.d_ff.value
        return self.experts.experts.d_ff.value

    @property
    def activation(self) -> str:
        part = self.feed_forwards[0]
        of = part.experts.activation if isinstance(part, MixtureOfExperts) else part.activation
        return ACTIVATIONS[of]

    @cached_property
    def input(self) -> TokenInput:
        if not isinstance(self.stack.input, TokenInput):
            raise NoDialectError("no tokens come in")
        return self.stack.input

    @property
    def vocab_size(self) -> int:
        return self.input.embedding.rows.value

    @property
    def d_model(self) -> int:
        for body in self.bodies:
            if isinstance(body, Attention | LatentAttention):
                return body.d_model.value
        raise NoDialectError("no attention")

    @property
    def n_layers(self) -> int:
        return len(self.blocks)

    @cached_property
    def rotaries(self) -> tuple[Rotary | None, ...]:
        """One a layer, None where it does not turn."""
        found = tuple(b for b in self.bodies if isinstance(b, Attention | LatentAttention))
        return tuple(b.position if isinstance(b.position, Rotary) else None for b in found)

    @property
    def rotary(self) -> Rotary:
        return self._first(tuple(each for each in self.rotaries if each is not None), "turns")

    @property
    def table(self) -> LearnedPosition:
        if not isinstance(self.input.position, LearnedPosition):
            raise NoDialectError("no table of positions")
        return self.input.position

    @cached_property
    def has_alibi(self) -> bool:
        return isinstance(self.attention.position, Alibi)

    @cached_property
    def windows(self) -> tuple[int | None, ...]:
        """One a layer, None where it sees everything."""
        reaches = [body.reach for body in self.bodies if isinstance(body, Attention)]
        return tuple(r.size.value if isinstance(r, Window) else None for r in reaches)

    @property
    def window(self) -> int | None:
        """The one size of all windows."""
        return next((size for size in self.windows if size is not None), None)

    @property
    def layer_types(self) -> list[str]:
        """Layer by layer in the words of configs."""
        return ["full_attention" if w is None else "sliding_attention" for w in self.windows]

    @cached_property
    def norms(self) -> tuple[Norm, ...]:
        """Those of the blocks."""
        slots = (n for b in self.blocks for s in b.sublayers for n in (s.pre, s.post, s.out))
        return tuple(norm for norm in slots if norm is not None)

    @property
    def eps(self) -> float:
        return self.norms[0].eps.value

    @property
    def is_rms(self) -> bool:
        return isinstance(self.norms[0], RmsNorm)

    @property
    def norm_weight(self) -> NormWeight:
        return self.norms[0].weight

    @property
    def norm_bias(self) -> bool:
        return isinstance(self.norms[0], LayerNorm) and self.norms[0].bias

    @property
    def is_parallel(self) -> bool:
        return self.blocks[0].wiring is Wiring.PARALLEL

    @property
    def shares_norm(self) -> bool:
        names = {sub.pre.name for sub in self.blocks[0].sublayers if sub.pre is not None}
        return len(names) == 1

    @property
    def adds_to_normed(self) -> bool:
        """Whether sublayers add to what they read, not to the raw stream."""
        return self.blocks[0].sublayers[0].residual is Residual.NORMED

    @property
    def has_pre_norm(self) -> bool:
        return self.blocks[0].sublayers[0].pre is not None

    @property
    def qk_norm(self) -> QkNorm | None:
        norm = self.attention.qk_norm
        return norm if isinstance(norm, QkNorm) else None

    @property
    def scale_width(self) -> int:
        """n of a scale of 1 / sqrt(n)."""
        if not isinstance(self.attention.scale, InverseSqrt):
            raise NoDialectError("no scale of 1 / sqrt(n)")
        return self.attention.scale.width.value

    @property
    def scale_factor(self) -> float | None:
        """What scores are multiplied by, where it is no root of a head's width."""
        match self.attention.scale:
            case Factor(value):
                return value.value
            case Unscaled():
                return 1.0
            case InverseSqrt():
                return None
            case _:
                assert_never(self.attention.scale)

    @property
    def head(self) -> LanguageModelHead:
        if not isinstance(self.model.heads[0], LanguageModelHead):
            raise NoDialectError("no language model head")
        return self.model.heads[0]

    @property
    def tied(self) -> bool:
        return isinstance(self.head.projection, Tied)

    @property
    def multiplier(self) -> float | None:
        """What sublayers multiply before they add."""
        found = self.blocks[0].sublayers[0].multiplier
        return None if found is None else found.value

    @staticmethod
    def _first(found: tuple[Part, ...], name: str) -> Part:
        if not found:
            raise NoDialectError(f"no {name}")
        return found[0]
