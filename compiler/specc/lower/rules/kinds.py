"""Rules that follow from a model's kind: which inputs it has, what it may give."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics import Diagnostic, SpecPath
from specc.lower.rules.places import Place, Problem
from specc.spec import schema


def kind_diagnostics(spec: schema.Spec) -> Iterator[Diagnostic]:
    """Inputs, options and stacks that do not go with the kind."""
    if spec.kind == "features":
        yield from _features(spec)
    else:
        yield from _tokens(spec)
    yield from _cache(spec)
    yield from _attention_weights(spec)
    if spec.init.outputs == "depth_scaled" and spec.init.kind != "normal":
        yield Diagnostic(
            ("init", "outputs"),
            f"depth_scaled divides the std of init kind normal, and the kind is {spec.init.kind}",
        )


def _features(spec: schema.Spec) -> Iterator[Diagnostic]:
    if spec.vocab_size is not None:
        yield Diagnostic(("vocab_size",), "kind features reads no tokens, so it has no vocabulary")
    if spec.embedding is not None:
        yield Diagnostic(("embedding",), "kind features reads no tokens, so nothing is embedded")
    if any(layer.position.kind != "none" for s in spec.stacks for layer in s.types.values()):
        yield Diagnostic(
            ("position",), "kind features reads sets, which have no order: position must be none"
        )


def _tokens(spec: schema.Spec) -> Iterator[Diagnostic]:
    if spec.vocab_size is None:
        yield Diagnostic(("vocab_size",), f"vocab_size is missing: kind {spec.kind} reads tokens")
    if spec.embedding is None:
        return
    if spec.embedding.types is not None and spec.kind != "encoder":
        yield Diagnostic(
            ("embedding", "types"), f"token types are for kind encoder, not {spec.kind}"
        )
    if spec.embedding.shared and spec.kind != "encoder_decoder":
        yield Diagnostic(
            ("embedding", "shared"),
            f"source and target share a table in kind encoder_decoder, not in {spec.kind}",
        )


def _cache(spec: schema.Spec) -> Iterator[Diagnostic]:
    if "generate" in spec.features:
        yield from _generate(spec)
    yield from _needs_cache(spec, "cpu_decode", "cpu_decode is for steps of one token")
    if "cache" not in spec.features:
        return
    if spec.kind not in ("decoder", "encoder_decoder"):
        yield Diagnostic(
            ("features",),
            f"a cache is for kinds that are causal, decoder and encoder_decoder, not {spec.kind}",
        )
        return
    if not any("attention" in x.block.sublayers for x in spec.stacks[-1].types.values()):
        yield Diagnostic(("features",), "no layer has self-attention whose keys a cache could keep")
    if any(isinstance(head, schema.ClassifierHead) for head in spec.heads):
        yield Diagnostic(
            ("features",),
            "a classifier pools over all tokens, and with a cache a call sees the new ones only",
            "write `features: []`",
        )


def _needs_cache(spec: schema.Spec, feature: str, why: str) -> Iterator[Diagnostic]:
    if feature in spec.features and "cache" not in spec.features:
        yield Diagnostic(
            ("features",),
            f"{why}, so it needs a cache",
            f"write `features: [cache, {feature}]`",
        )


def _generate(spec: schema.Spec) -> Iterator[Diagnostic]:
    yield from _needs_cache(spec, "generate", "generate reads one new token a step")
    if not any(isinstance(head, schema.LanguageModelHead) for head in spec.heads):
        yield Diagnostic(("features",), "generate needs a head that predicts tokens")


def _attention_weights(spec: schema.Spec) -> Iterator[Diagnostic]:
    if "attention_weights" not in spec.outputs:
        return
    if spec.kind not in ("decoder", "encoder"):
        yield Diagnostic(
            ("outputs",),
            f"attention_weights are for kinds decoder and encoder, not {spec.kind}",
        )
        return
    for name, layer in spec.stacks[0].types.items():
        if "attention" not in layer.block.sublayers:
            yield Diagnostic(
                ("outputs",), f"attention_weights of any layer: layer type {name} has no attention"
            )


def rule_memory(place: Place) -> Iterator[Problem]:
    """Cross-attention needs a memory: the encoder's output, or features from outside."""
    kind = place.spec.kind
    if kind in ("decoder", "encoder") and "cross_attention" in place.layer.block.sublayers:
        yield Problem(
            ("block", "sublayers"),
            f"kind {kind} has no memory for cross_attention to look at",
            "kinds encoder_decoder and features have one",
        )


def memory_diagnostics(spec: schema.Spec) -> Iterator[Diagnostic]:
    """A memory is read by somebody, and an encoder that makes it does not read it."""
    if spec.kind in ("decoder", "encoder"):
        return
    reading: dict[str, bool] = {
        stack.name: any("cross_attention" in x.block.sublayers for x in stack.types.values())
        for stack in spec.stacks
    }
    last = spec.stacks[-1].name
    path: SpecPath = ("block", "sublayers")
    if not reading[last]:
        prefix: SpecPath = (last,) if len(spec.stacks) > 1 else ()
        yield Diagnostic(
            (*prefix, *path), f"kind {spec.kind} without cross_attention never reads its memory"
        )
    if spec.kind == "encoder_decoder" and reading.get("encoder", False):
        yield Diagnostic(
            ("encoder", *path), "the encoder makes the memory, so it cannot look at it"
        )
