"""Stacks: what enters, the layer types with their pattern, what is normed at the end."""

from __future__ import annotations

from specc.ir.block import (
    Embedding,
    EmbeddingScale,
    FeatureInput,
    LayerType,
    ProjectAt,
    Projection,
    Segment,
    Stack,
    TokenInput,
)
from specc.ir.exhaustive import assert_never
from specc.ir.layers import DropoutSite, Linear, Norm
from specc.ir.sizes import Constant, Size, width
from specc.lower import init, norms
from specc.lower.block import block
from specc.lower.context import Context
from specc.lower.dropout import dropout
from specc.lower.embeddings import embedding_of, embedding_width, token_embedding, width_at
from specc.lower.positions import input_position
from specc.lower.segments import Run, runs
from specc.spec import schema


def stack(context: Context, node: schema.Stack) -> Stack:
    """One stack, `context` standing outside it."""
    context = context.inside(stack=node.name)
    depth = _depth(context, node)
    found = runs(node.pattern, node.n_layers)
    names = list(dict.fromkeys(name for run in found for name in run.cycle))
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
        segments=tuple(
            Segment(tuple(names.index(name) for name in run.cycle), size)
            for run, size in zip(found, _counts(context, found, depth), strict=True)
        ),
        final_norm=_final_norm(context, node),
    )


def _depth(context: Context, node: schema.Stack) -> Size:
    name = f"n_{context.stack_prefix()}layers"
    return context.size(name, node.n_layers, "L", ("n_layers",))


def _counts(context: Context, found: tuple[Run, ...], depth: Size) -> tuple[Size, ...]:
    """The number of layers of each run, in `Config` by what the run is made of."""
    if len(found) == 1:
        return (depth,)
    words = ["_".join(dict.fromkeys(run.cycle)) for run in found]
    names = [
        word if words.count(word) == 1 else f"{word}_{words[: i + 1].count(word)}"
        for i, word in enumerate(words)
    ]
    return tuple(
        context.size(f"n_{context.stack_prefix()}{name}_layers", run.count, "L", ())
        for name, run in zip(names, found, strict=True)
    )


def _project(context: Context) -> Projection | None:
    node = embedding_of(context.spec)
    if node.width is None:
        return None
    part = node.project or schema.EmbeddingProjection()
    linear = Linear(
        name="embedding_proj",
        inputs=width(embedding_width(context)),
        outputs=width(context.d_model),
        bias=part.bias,
        init=init.matrix(context),
        bias_init=init.bias(context),
    )
    return Projection(linear, ProjectAt(part.at))


def _input(context: Context, node: schema.Stack) -> TokenInput | FeatureInput:
    if context.spec.kind == "features":
        return FeatureInput(context.d_model)
    return TokenInput(
        embedding=token_embedding(context),
        scale=_scale(context),
        types=_types(context),
        position=input_position(context, node),
        project=_project(context),
        norm=_embedding_norm(context),
        dropout=dropout(context, DropoutSite.EMBEDDING, "dropout"),
    )


def _scale(context: Context) -> EmbeddingScale | Constant:
    scale = embedding_of(context.spec).scale
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
    n_types = embedding_of(context.spec).types
    if n_types is None:
        return None
    rows = context.at_root().size("n_types", n_types, "n_types", ("embedding", "types"))
    return Embedding("type_embedding", rows, width_at(context, "position"), init.table(context))


def _embedding_norm(context: Context) -> Norm | None:
    node = embedding_of(context.spec).norm
    if node is None:
        return None
    path = ("embedding", "norm", "eps")
    eps = norms.role_eps(context.at_root(), "embedding", node.eps, path)
    name = f"{context.stack_prefix()}embedding_norm"
    return norms.norm(node, name, width(width_at(context, "norm")), eps)


def _final_norm(context: Context, node: schema.Stack) -> Norm | None:
    if node.final_norm is None:
        return None
    eps = norms.role_eps(context, "final", node.final_norm.eps, ("final_norm", "eps"))
    name = f"{context.stack_prefix()}norm"
    return norms.norm(node.final_norm, name, width(context.d_model), eps)
