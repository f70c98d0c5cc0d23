"""Mistakes of lowering: golden and the file would share them, so numbers from outside must notice.

Each is a replacement for one function (or table) of the room, and the numbers that it must miss.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

from specc.ir.attention import InverseSqrt, SeparateProjections
from specc.ir.block import EmbeddingScale
from specc.ir.layers import Activation
from specc.ir.positions import PositionIndex
from specc.ir.sizes import Size
from tests.outside.numbers import ask

Wrong = Callable[[Any], Any]  # gets the right one


@dataclass(frozen=True)
class LoweringMutant:
    """`wrong` in the place of `target`; each of `missed` must notice."""

    name: str
    target: str
    wrong: Wrong
    missed: tuple[str, ...]


@contextmanager
def lowered_wrongly(mutant: LoweringMutant) -> Iterator[None]:
    """Lowering makes the mistake inside the context."""
    owner, _, name = mutant.target.rpartition(".")
    module, _, class_name = owner.partition(":")
    holder = importlib.import_module(f"specc.lower.{module}")
    holder = vars(holder)[class_name] if class_name else holder
    with patch.object(holder, name, mutant.wrong(vars(holder)[name])):
        yield


def noticed(mutant: LoweringMutant, question: str) -> str | None:
    """What the numbers say of the mistake; None: nothing.

    A name that is not there is a fault of the mistake as it is written here, and is raised.
    """
    with lowered_wrongly(mutant):
        try:
            ask(question)
        except (AttributeError, NameError):
            raise
        except Exception as error:  # noqa: BLE001  # a refusal or a crash is noticed as well
            return f"{type(error).__name__}: {' '.join(str(error).split())[:120]}"
    return None


def given(value: Any) -> Wrong:
    """A function that always gives one value."""
    return lambda _: lambda *_, **__: value


def changed(**changes: Any) -> Wrong:
    """The right part with some fields changed."""
    return lambda right: lambda *a, **k: replace(right(*a, **k), **changes)


def always(name: str) -> Wrong:
    """An enum that gives one member for every word."""
    return lambda right: type("Wrong", (), {**right.__members__, "__new__": lambda *_: right[name]})


def another_eps(before: float | None, factor: float) -> Wrong:
    """The eps of layers, or only that of one value, times a factor."""

    def wrong(right: Any) -> Any:
        def layer_eps(context: Any, norm: Any, *path: Any) -> Any:
            if before is None or norm.eps == before:
                norm = norm.model_copy(update={"eps": norm.eps * factor})
            return right(context, norm, *path)

        return layer_eps

    return wrong


def swapped_words(*pairs: tuple[Any, Any]) -> Wrong:
    """An enum that gives another member for some."""
    others = dict(pairs)
    return lambda right: lambda word: others.get(right(word), right(word))


def _kv_heads_swapped(right: Any) -> Any:
    def heads(*a: Any, **k: Any) -> Any:
        made = right(*a, **k)
        return replace(made, n_heads=made.n_kv_heads, n_kv_heads=made.n_heads)

    return heads


def _no_projection_bias(right: Any) -> Any:
    def projections(*a: Any, **k: Any) -> Any:
        made = right(*a, **k)
        if not isinstance(made, SeparateProjections):
            return replace(made, qkv=replace(made.qkv, bias=False))
        return SeparateProjections(*(replace(p, bias=False) for p in (made.q, made.k, made.v)))

    return projections


def _depth_of_the_other_stack(right: Any) -> Any:
    def block(context: Any, layer: Any, depth: Size) -> Any:
        others = [s for s in context.spec.stacks if s.name != context.scope.stack]
        if not others:
            return right(context, layer, depth)
        name = f"n_{others[0].name}_layers"
        return right(context, layer, Size(name, others[0].n_layers, depth.letter))

    return block


def _cycles_turned(right: Any) -> Any:
    def runs(*a: Any) -> Any:
        return tuple(replace(r, cycle=r.cycle[1:] + r.cycle[:1]) for r in right(*a))

    return runs


def _pre_and_post_swapped(right: Any) -> Any:
    return {**right, "pre": right["post"], "post": right["pre"]}


def _rotary(theta: float) -> Wrong:
    def wrong(right: Any) -> Any:
        def rotary(context: Any, node: Any, head_dim: Size) -> Any:
            return right(context, node.model_copy(update={"theta": theta}), head_dim)

        return rotary

    return wrong


LOWERING = (
    LoweringMutant(
        "the scale is read from d_model",
        "attention._scale",
        lambda _: lambda context, *_: InverseSqrt(context.d_model),
        ("foreign llama", "seed tiny_transformer_lm"),
    ),
    LoweringMutant(
        "the scale's own width is ignored",
        "attention._scale",
        lambda _: lambda context, node, heads, key: InverseSqrt(heads.head_dim),
        ("foreign gemma3", "seed set_attention_l2"),
    ),
    LoweringMutant(
        "eps ten times too large", "norms.layer_eps", another_eps(None, 10), ("foreign llama",)
    ),
    LoweringMutant(
        "the default of eps changed", "norms.layer_eps", another_eps(1e-6, 10), ("foreign gemma3",)
    ),
    LoweringMutant(
        "rotary_dim is rounded up",
        "derived.rotary_dim",
        lambda _: lambda node, width: 2 * math.ceil(width * node.fraction / 2),
        ("foreign neox",),
    ),
    LoweringMutant(
        "the whole head turns",
        "derived.rotary_dim",
        lambda _: lambda node, width: width,
        ("foreign neox",),
    ),
    LoweringMutant(
        "theta is always 10000", "positions._rotary", _rotary(10000.0), ("foreign llama",)
    ),
    LoweringMutant(
        "rotary scaling is dropped", "positions._scaling", given(None), ("foreign llama",)
    ),
    LoweringMutant(
        "heads and key/value heads swapped",
        "attention._heads",
        _kv_heads_swapped,
        ("foreign llama",),
    ),
    LoweringMutant(
        "every head has its own keys",
        "derived.n_kv_heads",
        lambda _: lambda node: node.n_heads,
        ("count llama_3_2_1b", "foreign llama"),
    ),
    LoweringMutant(
        "head_dim from the key/value heads",
        "derived.head_dim",
        lambda _: lambda node, d_model: d_model // (node.n_kv_heads or node.n_heads),
        ("count llama_3_2_1b", "foreign llama"),
    ),
    LoweringMutant(
        "a head_dim of its own is ignored",
        "derived.head_dim",
        lambda _: lambda node, d_model: d_model // node.n_heads,
        ("foreign gemma3",),
    ),
    LoweringMutant(
        "the tie is lost",
        "heads._projection",
        lambda right: lambda c, node, *n: right(c, node.model_copy(update={"tied": False}), *n),
        ("count gpt2", "foreign gpt2"),
    ),
    LoweringMutant(
        "all heads are tied",
        "heads._projection",
        lambda right: lambda c, node, *n: right(c, node.model_copy(update={"tied": True}), *n),
        ("foreign neox", "seed tiny_transformer_lm"),
    ),
    LoweringMutant(
        "the pattern is off by one",
        "stacks.runs",
        _cycles_turned,
        ("foreign gemma3",),
    ),
    LoweringMutant(
        "the window is one too wide",
        "attention.Window",
        lambda right: lambda size: right(replace(size, value=size.value + 1)),
        ("foreign gemma3",),
    ),
    LoweringMutant(
        "shared experts are dropped",
        "feed_forward._shared",
        given(None),
        ("claim deepseek_v2_lite", "claim deepseek_v3"),
    ),
    LoweringMutant(
        "the offset is dropped", "positions._learned", changed(offset=0), ("foreign opt",)
    ),
    LoweringMutant(
        "positions count padding",
        "positions.PositionIndex",
        lambda _: lambda _word: PositionIndex.ARANGE,
        ("foreign gpt2",),
    ),
    LoweringMutant(
        "the depth of the other stack", "stacks.block", _depth_of_the_other_stack, ("starts",)
    ),
    LoweringMutant(
        "branches do not start smaller",
        "init.output_matrix",
        lambda _: lambda context, depth: importlib.import_module("specc.lower.init").matrix(
            context
        ),
        ("starts",),
    ),
    LoweringMutant(
        "the final norm is dropped",
        "stacks._final_norm",
        given(None),
        ("count gpt2", "foreign llama"),
    ),
    LoweringMutant(
        "pre-norm and post-norm swapped",
        "block._PLACEMENTS",
        _pre_and_post_swapped,
        ("foreign gpt2", "foreign bert", "seed transformer_encoder_post"),
    ),
    LoweringMutant(
        "an encoder sees the past only",
        "context:Context.is_causal",
        lambda _: property(lambda _self: True),
        ("foreign bert", "seed transformer_encoder_pre"),
    ),
    LoweringMutant(
        "the embedding's scale is dropped",
        "stacks._scale",
        given(EmbeddingScale.ONE),
        ("foreign gemma3", "seed text_classifier"),
    ),
    LoweringMutant(
        "projections lose their biases",
        "attention._projections",
        _no_projection_bias,
        ("count gpt2", "foreign opt"),
    ),
    LoweringMutant(
        "the forms of GELU swapped",
        "feed_forward.Activation",
        swapped_words(
            (Activation.GELU_ERF, Activation.GELU_TANH), (Activation.GELU_TANH, Activation.GELU_ERF)
        ),
        ("foreign gpt2", "foreign bert"),
    ),
    LoweringMutant(
        "token types are dropped", "stacks._types", given(None), ("count bert_base", "foreign bert")
    ),
    LoweringMutant(
        "the pooler is dropped", "heads._pooler", given(None), ("count bert_base", "foreign bert")
    ),
    LoweringMutant(
        "q and k normed over the full width",
        "attention.NormOver",
        always("FULL"),
        ("foreign gemma3",),
    ),
    LoweringMutant(
        "gains are not 1 + w",
        "norms.NormWeight",
        always("PLAIN"),
        ("foreign gemma3",),
    ),
    LoweringMutant(
        "no temperature", "attention._temperature", given(None), ("seed set_attention_l2",)
    ),
)
