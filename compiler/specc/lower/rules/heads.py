"""Rules on heads: what they need, and the names that they give to outputs and modules."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics import Diagnostic, SpecPath
from specc.lower.heads import classifier_name, output_name, pooler_name
from specc.spec import schema


def head_diagnostics(spec: schema.Spec) -> Iterator[Diagnostic]:
    """Heads without a vocabulary, two outputs of one name, names that hide a module."""
    if not spec.heads:
        yield Diagnostic(("head",), "a model needs at least one head")
    for index, node in enumerate(spec.heads):
        if spec.kind == "features":
            yield from _needs_vocabulary(node, head_path(spec, index))
    yield from _twice(spec)


def embedding_diagnostics(spec: schema.Spec) -> Iterator[Diagnostic]:
    """What a table of its own width or height asks of the rest."""
    node = spec.embedding
    if node is None:
        return
    if node.project is not None and node.width is None:
        yield Diagnostic(
            ("embedding", "project"),
            "there is nothing to project: the embedding has the model's width",
            "give embedding.width",
        )
    if node.width == spec.d_model:
        yield Diagnostic(
            ("embedding", "width"),
            f"embedding.width equals d_model ({spec.d_model}): no map is needed",
            "leave it out",
        )
    if node.padded_vocab_size is not None and node.padded_vocab_size <= (spec.vocab_size or 0):
        yield Diagnostic(
            ("embedding", "padded_vocab_size"),
            f"padded_vocab_size {node.padded_vocab_size} is not more than vocab_size"
            f" {spec.vocab_size}",
        )
    for index, head in enumerate(spec.heads):
        if isinstance(head, schema.MaskedLanguageModelHead) and (
            node.width is not None or node.padded_vocab_size is not None
        ):
            yield Diagnostic(
                (*head_path(spec, index), "kind"),
                "a masked language model head goes with an embedding of the model's width and an "
                "unpadded vocabulary so far",
            )


def head_path(spec: schema.Spec, index: int) -> SpecPath:
    """Where a person writes that head."""
    return ("head",) if len(spec.heads) == 1 else ("head", index)


def _needs_vocabulary(node: schema.Head, path: SpecPath) -> Iterator[Diagnostic]:
    if not isinstance(node, schema.LanguageModelHead | schema.MaskedLanguageModelHead):
        return
    if node.tied:
        yield Diagnostic(
            (*path, "tied"), "a tied head uses the embedding's matrix, and kind features has none"
        )
    yield Diagnostic(
        path,
        f"head {node.kind} predicts tokens, and kind features has no vocabulary",
        "take head features or classifier",
    )


def _twice(spec: schema.Spec) -> Iterator[Diagnostic]:
    taken = {"attention_weights"} if "attention_weights" in spec.outputs else set()
    for index, node in enumerate(spec.heads):
        name = output_name(node)
        if name in taken:
            is_classifier = isinstance(node, schema.ClassifierHead)
            yield Diagnostic(
                (*head_path(spec, index), "name" if is_classifier else "kind"),
                f"two outputs are called {name}",
                "give each classifier a name" if is_classifier else None,
            )
        taken.add(name)


def module_names(spec: schema.Spec) -> Iterator[tuple[SpecPath, str]]:
    """The module names that heads take from the spec, with the places that say them."""
    for index, node in enumerate(spec.heads):
        if isinstance(node, schema.ClassifierHead):
            path = (*head_path(spec, index), "name")
            yield path, classifier_name(node, spec.heads)
            if node.pooler != "none":
                yield path, pooler_name(node, spec.heads)
