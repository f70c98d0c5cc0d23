"""Rules on norms: what a kind can have."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics import Diagnostic, SpecPath
from specc.lower.rules.places import Place, Problem
from specc.spec import schema

Norm = schema.Norm | schema.RmsQkNorm


def rule_layer_norms(place: Place) -> Iterator[Problem]:
    """The norm of the layers, and those of queries and keys."""
    layer = place.layer
    yield from _problems(layer.norm, ("norm",))
    for key, node in (("attention", layer.attention), ("cross_attention", layer.cross_attention)):
        if isinstance(node, schema.Attention) and isinstance(node.qk_norm, schema.RmsQkNorm):
            yield from _problems(node.qk_norm, (key, "qk_norm"))


def other_norms(spec: schema.Spec) -> Iterator[Diagnostic]:
    """Norms outside the layers. One that is only inherited is reported where it comes from."""
    inherited = {layer.norm for stack in spec.stacks for layer in stack.types.values()}
    for path, node in _others(spec):
        if node is not None and node not in inherited:
            for problem in _problems(node, path):
                yield Diagnostic(problem.path, problem.message, problem.hint)


def _others(spec: schema.Spec) -> Iterator[tuple[SpecPath, schema.Norm | None]]:
    if spec.embedding is not None:
        yield ("embedding", "norm"), spec.embedding.norm
    for stack in spec.stacks:
        prefix: SpecPath = (stack.name,) if len(spec.stacks) > 1 else ()
        yield (*prefix, "final_norm"), stack.final_norm
    for index, head in enumerate(spec.heads):
        if isinstance(head, schema.MaskedLanguageModelHead):
            place: SpecPath = ("head",) if len(spec.heads) == 1 else ("head", index)
            yield (*place, "norm"), head.norm


def _problems(node: Norm, path: SpecPath) -> Iterator[Problem]:
    if node.kind == "rms":
        if node.bias:
            yield Problem((*path, "bias"), "an rms norm has no bias", "kind layer has one")
        if node.cast == "native":
            yield Problem(
                (*path, "cast"),
                "cast native is torch's own layer norm; an rms norm says when it casts",
                "take before_weight or after_weight",
            )
    elif node.cast not in (None, "native"):
        yield Problem(
            (*path, "cast"),
            f"cast {node.cast} is for kind rms; a layer norm computes as torch does",
            "leave cast out, or take native",
        )
