"""The methods of the model class, one set for each kind of model: what they take, and the lines
they run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specc.ir.model import Kind
from specc.render.engine import section
from specc.render.heads import HeadText, returning
from specc.render.stack import StackText

CACHE = "cache: Cache | None = None,"
SOURCE = "source: Tensor,  # [B, M]"
SOURCE_MASK = "source_mask: Tensor | None = None,  # [B, M] bool, False = padding"
LAST_ONLY = "last_only: bool = False,  # logits of the last token alone"
WANTED = "attention_layers: tuple[int, ...] = (),"


@dataclass(frozen=True)
class Method:
    """One method of the model."""

    name: str
    parameters: Sequence[str]
    returns: str
    doc: str
    body: Sequence[str]

    @property
    def short(self) -> str | None:
        """All parameters on one line, where none has a comment of its own."""
        if any("#" in parameter for parameter in self.parameters):
            return None
        return " ".join(["self,", *self.parameters]).rstrip(",")

    def text(self) -> str:
        return section(
            "model/method",
            name=self.name,
            parameters=self.parameters,
            short=self.short,
            returns=self.returns,
            doc=self.doc,
            body=self.body,
        )


@dataclass(frozen=True)
class Forward:
    """What the methods of every kind are made of."""

    kind: Kind
    stacks: Sequence[StackText]
    heads: list[HeadText]
    attention_weights: bool
    last_only: bool  # whether a call may ask for the last token's logits alone
    max_seq_len: str | None  # the name of the limit in `Config`, if positions have one
    layers_name: str  # the attribute of the last stack's layers

    @property
    def returns(self) -> str:
        return "Output" if len(self.heads) > 1 or self.attention_weights else "Tensor"

    def methods(self) -> list[Method]:
        """All methods that take tokens or features."""
        match self.kind:
            case Kind.DECODER | Kind.ENCODER:
                return [self._one_stack()]
            case Kind.ENCODER_DECODER:
                return self._two_stacks()
            case Kind.FEATURES:
                return [self._features()]

    def _return(self) -> list[str]:
        return returning(self.heads, self.stacks[-1].result, self.attention_weights)

    def _wanted(self) -> list[str]:
        return [WANTED] * self.attention_weights + [LAST_ONLY] * self.last_only

    def _check_wanted(self) -> list[str]:
        if not self.attention_weights:
            return []
        return [f"check_layers(attention_layers, len(self.{self.layers_name}))"]

    def _one_stack(self) -> Method:
        stack = self.stacks[0]
        keys = "S" if stack.cached else "T"
        parameters = [
            "tokens: Tensor,  # [B, T]",
            f"token_mask: Tensor | None = None,  # [B, {keys}] bool, False = padding",
        ]
        if self.kind is Kind.ENCODER and stack.input.types is not None:
            parameters.append("token_types: Tensor | None = None,  # [B, T]")
        parameters += ([CACHE] if stack.cached else []) + self._wanted()
        body = [*self._start(stack), *self._check_wanted(), "", *stack.body(), *self._return()]
        return Method("forward", parameters, self.returns, "", body)

    def _start(self, stack: StackText) -> list[str]:
        """Where the new tokens begin and end, and what is refused."""
        tokens, mask = stack.names.tokens, stack.names.mask
        found = []
        end = f"{tokens}.size(1)"
        if stack.cached:
            found = ["start = 0 if cache is None else cache.length", f"end = start + {end}"]
            end = "end"
        if self.max_seq_len is not None:
            found.append(f"check_length({end}, self.config.{self.max_seq_len})")
        found.append(f'check_mask("{mask}", {mask}, {tokens}.size(0), {end})')
        if stack.cached:
            found.append(f"check_cache(cache, {tokens}.size(0), end)")
        return found

    def _two_stacks(self) -> list[Method]:
        encoder, decoder = self.stacks
        source, source_mask = [SOURCE], [SOURCE_MASK]
        keys = "S" if decoder.cached else "T"
        target = ["target: Tensor,  # [B, T]"]
        target_mask = [f"target_mask: Tensor | None = None,  # [B, {keys}] bool, False = padding"]
        rest = ([CACHE] if decoder.cached else []) + self._wanted()
        names = [line.split(":")[0] for line in rest]
        encode = Method(
            "encode",
            source + source_mask,
            "Tensor",
            "Read the source once: [B, M] -> the memory [B, M, D].",
            [*self._start(encoder), *encoder.body(), f"return {encoder.result}  # [B, M, D]"],
        )
        decode = Method(
            "decode",
            [*target, "memory: Tensor,  # [B, M, D]", *source_mask, *target_mask, *rest],
            self.returns,
            "Say what follows each target token, given a memory.",
            [
                *self._start(decoder),
                'check_mask("source_mask", source_mask, *memory.shape[:2])',
                *self._check_wanted(),
                "",
                "visible = visible_memory(source_mask)  # [B, 1, 1, M]",
                *decoder.body(),
                *self._return(),
            ],
        )
        call = ", ".join(["target", "memory", "source_mask", "target_mask", *names])
        both = [
            "memory = self.encode(source, source_mask)  # [B, M, D]",
            f"return self.decode({call})",
        ]
        taken = [*source, *target, *source_mask, *target_mask, *rest]
        return [encode, decode, Method("forward", taken, self.returns, "", both)]

    def _features(self) -> Method:
        stack = self.stacks[0]
        parameters = [
            "queries: Tensor,  # [B, T, D]",
            "memory: Tensor,  # [B, M, D]",
            "memory_mask: Tensor | None = None,  # [B, M] bool, False = padding",
            *self._wanted(),
        ]
        body = [
            'check_mask("memory_mask", memory_mask, *memory.shape[:2])',
            *self._check_wanted(),
            "visible = visible_memory(memory_mask)  # [B, 1, 1, M]",
            "x = queries",
            *stack.body(),
            *self._return(),
        ]
        return Method("forward", parameters, self.returns, "", body)
