"""Stacks: what enters, the layer types with their pattern, what is normed at the end."""

from __future__ import annotations

from specc.ir.block import (
    Embedding,
    EmbeddingScale,
    FeatureInput,
    LayerType,
    Segment,
    Stack,
    TokenInput,
)
from specc.ir.exhaustive import assert_never
from specc.ir.layers import DropoutSite, Norm
from specc.ir.sizes import Constant, Size, width
from specc.lower import init, norms
from specc.lower.block import block
from specc.lower.context import Context
from specc.lower.dropout import dropout
from specc.lower.positions import input_position
from specc.spec import schema


def stack(context: Context, node: schema.Stack) -> Stack:
    """One stack, `context` standing outside it."""
    context = context.inside(stack=node.name)
    depth = _depth(context, node)
    pattern = _period(node.pattern)
    names = list(dict.fromkeys(pattern))
    entry = _input(context, node)
    layer_types = tuple(
        LayerType(
            name if len(names) > 1 else "layer",
            block(context.inside(layer_type=name), node.types[name], depth),
        )
        for name in names
    )
    return Stack(
        name=node.name,
        layers_name=f"{context.stack_prefix()}layers",
        input=entry,
        layer_types=layer_types,
        segments=(Segment(tuple(names.index(name) for name in pattern), depth),),
        final_norm=_final_norm(context, node),
    )


def _depth(context: Context, node: schema.Stack) -> Size:
    name = f"n_{context.stack_prefix()}layers"
    return context.size(name, node.n_layers, "L", ("n_layers",))


def _period(pattern: tuple[str, ...]) -> tuple[str, ...]:
    """The shortest cycle that gives the same pattern: (a, b, a, b) is (a, b)."""
    for length in range(1, len(pattern)):
        repeats, rest = divmod(len(pattern), length)
        if rest == 0 and pattern == pattern[:length] * repeats:
            return pattern[:length]
    return pattern


def token_embedding(context: Context) -> Embedding:
    """The table that the tokens of this stack read."""
    shared = not context.has_two_stacks or _embedding(context.spec).shared
    own_name = "source_embedding" if context.scope.stack == "encoder" else "target_embedding"
    return Embedding(
        name="embedding" if shared else own_name,
        rows=context.vocab_size,
        width=context.d_model,
        init=init.table(context),
    )


def _embedding(spec: schema.Spec) -> schema.Embedding:
    return spec.embedding or schema.Embedding()


def _input(context: Context, node: schema.Stack) -> TokenInput | FeatureInput:
    if context.spec.kind == "features":
        return FeatureInput(context.d_model)
    return TokenInput(
        embedding=token_embedding(context),
        scale=_scale(context),
        types=_types(context),
        position=input_position(context, node),
        project=None,
        norm=_embedding_norm(context),
        dropout=dropout(context, DropoutSite.EMBEDDING, "dropout"),
    )


def _scale(context: Context) -> EmbeddingScale | Constant:
    scale = _embedding(context.spec).scale
    match scale:
        case "one":
            return EmbeddingScale.ONE
        case "sqrt_d_model":
            return EmbeddingScale.SQRT_WIDTH
        case float():
            return context.at_root().constant("embedding_scale", scale, ("embedding", "scale"))
        case _:
            assert_never(scale)


def _types(context: Context) -> Embedding | None:
    n_types = _embedding(context.spec).types
    if n_types is None:
        return None
    rows = context.at_root().size("n_types", n_types, "n_types", ("embedding", "types"))
    return Embedding("type_embedding", rows, context.d_model, init.table(context))


def _embedding_norm(context: Context) -> Norm | None:
    node = _embedding(context.spec).norm
    if node is None:
        return None
    path = ("embedding", "norm", "eps")
    eps = norms.role_eps(context.at_root(), "embedding", node.eps, path)
    return norms.norm(node, f"{context.stack_prefix()}embedding_norm", width(context.d_model), eps)


def _final_norm(context: Context, node: schema.Stack) -> Norm | None:
    if node.final_norm is None:
        return None
    eps = norms.role_eps(context, "final", node.final_norm.eps, ("final_norm", "eps"))
    name = f"{context.stack_prefix()}norm"
    return norms.norm(node.final_norm, name, width(context.d_model), eps)
