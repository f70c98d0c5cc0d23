"""Heads: what a model makes of its last features."""

from __future__ import annotations

from specc.ir.exhaustive import assert_never
from specc.ir.heads import (
    ClassifierHead,
    FeaturesHead,
    Head,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Pool,
    Pooler,
    Tied,
)
from specc.ir.layers import Activation, Linear
from specc.ir.sizes import Constant, Size, Width, width
from specc.lower import init, norms
from specc.lower.context import Context
from specc.lower.embeddings import embedding_width, table_rows, token_embedding
from specc.lower.names import RelativePath
from specc.spec import schema


def output_name(node: schema.Head) -> str:
    """The field of the output that a head fills."""
    match node:
        case schema.LanguageModelHead() | schema.MaskedLanguageModelHead():
            return "logits"
        case schema.ClassifierHead():
            return node.name
        case schema.FeaturesHead():
            return "features"
        case _:
            assert_never(node)


def classifier_name(node: schema.ClassifierHead, heads: tuple[schema.Head, ...]) -> str:
    """The module of a classifier: `classifier` when it is the only head."""
    return "classifier" if len(heads) == 1 else node.name


def pooler_name(node: schema.ClassifierHead, heads: tuple[schema.Head, ...]) -> str:
    """The module of a pooler: `pooler` when it is the only one."""
    poolers = [h for h in heads if isinstance(h, schema.ClassifierHead) and h.pooler != "none"]
    return "pooler" if len(poolers) == 1 else f"{node.name}_pooler"


def head(context: Context, index: int) -> Head:
    """The head at `index` of the spec, reading the features of the last stack."""
    spec = context.spec
    node = spec.heads[index]
    path: RelativePath = ("head",) if len(spec.heads) == 1 else ("head", index)
    match node:
        case schema.LanguageModelHead():
            return _language_model(context, node, path)
        case schema.MaskedLanguageModelHead():
            return _masked_language_model(context, node, path)
        case schema.ClassifierHead():
            return _classifier(context, node, path)
        case schema.FeaturesHead():
            return FeaturesHead(output_name(node))
        case _:
            assert_never(node)


def _language_model(
    context: Context, node: schema.LanguageModelHead, path: RelativePath
) -> LanguageModelHead:
    root = context.at_root()

    def constant(name: str, field: str, value: float | None) -> Constant | None:
        return None if value is None else root.constant(name, value, (*path, field))

    padded = table_rows(context) != context.vocab_size
    return LanguageModelHead(
        output_name=output_name(node),
        project=_to_embedding(context) if node.tied else None,
        projection=_projection(context, node, "head", "head_bias"),
        in_scale=constant("head_in_multiplier", "in_multiplier", node.in_multiplier),
        out_scale=constant("head_out_multiplier", "out_multiplier", node.out_multiplier),
        softcap=constant("logit_softcap", "softcap", node.softcap),
        vocab_size=context.vocab_size if padded else None,
    )


def _to_embedding(context: Context) -> Linear | None:
    """What takes features to a narrower embedding's width before its matrix is used."""
    narrow = embedding_width(context)
    if narrow == context.d_model:
        return None
    return _linear(context, "head_proj", narrow, False)


def _linear(context: Context, name: str, outputs: Size, has_bias: bool) -> Linear:
    return Linear(
        name=name,
        inputs=width(context.d_model),
        outputs=Width(((outputs,),)),
        bias=has_bias,
        init=init.matrix(context),
        bias_init=init.bias(context),
    )


def _projection(
    context: Context,
    node: schema.LanguageModelHead | schema.MaskedLanguageModelHead,
    linear_name: str,
    bias_name: str,
) -> Tied | Linear:
    if node.tied:
        return Tied(token_embedding(context), bias_name if node.bias else None)
    return _linear(context, linear_name, table_rows(context), node.bias)


def _masked_language_model(
    context: Context, node: schema.MaskedLanguageModelHead, path: RelativePath
) -> MaskedLanguageModelHead:
    eps = norms.role_eps(context.at_root(), "mlm", node.norm.eps, (*path, "norm", "eps"))
    return MaskedLanguageModelHead(
        output_name=output_name(node),
        dense=_linear(context, "mlm_dense", context.d_model, True),
        activation=Activation(node.activation),
        norm=norms.norm(node.norm, "mlm_norm", width(context.d_model), eps),
        projection=_projection(context, node, "mlm_head", "mlm_bias"),
    )


def _classifier(
    context: Context, node: schema.ClassifierHead, path: RelativePath
) -> ClassifierHead:
    heads = context.spec.heads
    here = context.at_root().inside(part=node.name if len(heads) > 1 else "")
    n_classes = here.size("n_classes", node.n_classes, "C", (*path, "n_classes"))
    return ClassifierHead(
        output_name=output_name(node),
        pool=Pool(node.pool),
        pooler=_pooler(context, node),
        projection=_linear(context, classifier_name(node, heads), n_classes, node.bias),
        n_classes=n_classes,
    )


def _pooler(context: Context, node: schema.ClassifierHead) -> Pooler | None:
    match node.pooler:
        case "none":
            return None
        case "tanh":
            name = pooler_name(node, context.spec.heads)
            return Pooler(_linear(context, name, context.d_model, True), Activation.TANH)
        case _:
            assert_never(node.pooler)
