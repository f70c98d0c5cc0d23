"""The whole of what a spec means: one `Model`, nothing defaulted, nothing left to decide."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from specc.ir.block import Stack
from specc.ir.heads import Head


class Kind(Enum):
    """What a model is given."""

    DECODER = "decoder"  # (tokens, token_mask, cache)
    ENCODER = "encoder"  # (tokens, token_mask, token_types)
    ENCODER_DECODER = "encoder_decoder"  # (source, target, source_mask, target_mask, cache)
    FEATURES = "features"  # (queries, memory, memory_mask)


@dataclass(frozen=True)
class Claim:
    """A parameter count that the paper states, and how far (as a fraction) the real one may lie
    from it.
    """

    parameters: int
    tolerance: float


@dataclass(frozen=True)
class Paper:
    """Where the architecture was published."""

    title: str
    arxiv: str | None
    url: str | None
    claim: Claim | None


@dataclass(frozen=True)
class Citation:
    """Where one field of the spec comes from, as a comment for the generated file. `path` is a
    schema path.

    `config_name` is the field of `Config` that the path names, if it names exactly one.
    """

    path: str
    text: str
    config_name: str | None = None


@dataclass(frozen=True)
class Model:
    """A transformer. Parts of equal attribute name and place are one module."""

    name: str
    class_name: str
    title: str
    kind: Kind
    paper: Paper | None
    layout: str | None  # how published weights are stored; no part of what the model computes
    stacks: tuple[Stack, ...]  # one, or the encoder and then the decoder
    heads: tuple[Head, ...]
    cache: bool
    generate: bool  # tokens one after another, from a language model head and a cache
    cpu_decode: bool  # products with few rows are shared by all cores; no part of what they are
    attention_weights: bool  # forward takes the layers whose attention weights it should return
    citations: tuple[Citation, ...]

    def stack(self, name: str) -> Stack:
        """The stack of that role; KeyError if there is none."""
        return {stack.name: stack for stack in self.stacks}[name]
