"""The tables of tokens: whose they are, how many rows they have, how wide they are."""

from __future__ import annotations

from typing import Literal

from specc.ir.block import Embedding
from specc.ir.sizes import Size
from specc.lower import init
from specc.lower.context import Context
from specc.spec import schema


def token_embedding(context: Context) -> Embedding:
    """The table that the tokens of this stack read."""
    shared = not context.has_two_stacks or embedding_of(context.spec).shared
    own_name = "source_embedding" if context.scope.stack == "encoder" else "target_embedding"
    return Embedding(
        name="embedding" if shared else own_name,
        rows=table_rows(context),
        width=embedding_width(context),
        init=init.table(context),
    )


def table_rows(context: Context) -> Size:
    """The vocabulary, padded if the spec pads it."""
    padded = embedding_of(context.spec).padded_vocab_size
    if padded is None:
        return context.vocab_size
    path = ("embedding", "padded_vocab_size")
    return context.at_root().size("padded_vocab_size", padded, "padded_vocab_size", path)


def embedding_width(context: Context) -> Size:
    """The model's width, or the embedding's own."""
    own = embedding_of(context.spec).width
    if own is None:
        return context.d_model
    return context.at_root().size("embedding_width", own, "W", ("embedding", "width"))


def width_at(context: Context, before: Literal["position", "norm"]) -> Size:
    """The features' width where positions are added, or where they are normed."""
    is_wide = _is_projected(embedding_of(context.spec), before)
    return context.d_model if is_wide else embedding_width(context)


def position_width(spec: schema.Spec) -> tuple[str, int]:
    """The path of the field that says how wide features are where positions are added, and it."""
    node = embedding_of(spec)
    if node.width is None or _is_projected(node, "position"):
        return "d_model", spec.d_model
    return "embedding.width", node.width


def _is_projected(node: schema.Embedding, before: Literal["position", "norm"]) -> bool:
    """Whether features have the model's width by then."""
    wide = {"position": ("before_position",), "norm": ("before_position", "before_norm")}[before]
    return node.project is None or node.project.at in wide


def embedding_of(spec: schema.Spec) -> schema.Embedding:
    """The spec's embedding, its defaults where it names none."""
    return spec.embedding or schema.Embedding()
