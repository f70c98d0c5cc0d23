"""Rules on what attention looks at and how it scores: reach, latents, scalings, indices."""

from __future__ import annotations

from collections.abc import Iterator

from specc.diagnostics import Diagnostic, SpecPath
from specc.lower import derived
from specc.lower.rules.places import Place, Problem
from specc.spec import schema


def rule_reach(place: Place) -> Iterator[Problem]:
    """A query sees a window or a chunk, and only a decoder's tokens come in chunks."""
    node = place.layer.attention
    if not isinstance(node, schema.Attention) or "attention" not in place.layer.block.sublayers:
        return
    if node.window is not None and node.chunk is not None:
        yield Problem(
            ("attention", "chunk"), "a layer looks through a window or at a chunk, not both"
        )
    if node.window is not None and place.spec.kind == "features":
        yield Problem(
            ("attention", "window"), "kind features reads sets, which have no order, so no windows"
        )
    if node.chunk is not None and place.spec.kind != "decoder":
        yield Problem(("attention", "chunk"), "chunks are for kind decoder")
    if node.chunk is not None and isinstance(place.layer.position, schema.Alibi):
        yield Problem(("attention", "chunk"), "chunks and alibi have not been put together")
    if node.temperature is not None and place.spec.kind != "decoder":
        yield Problem(("attention", "temperature"), "a temperature by position is for kind decoder")


def rule_qk_norm(place: Place) -> Iterator[Problem]:
    """A norm over all heads comes before they are split, so before they are turned."""
    for key in ("attention", "cross_attention"):
        node = place.layer.attention if key == "attention" else place.layer.cross_attention
        part = node.qk_norm if isinstance(node, schema.Attention) else None
        if (
            isinstance(part, schema.RmsQkNorm)
            and part.when == "after_rotary"
            and part.over == "full"
        ):
            yield Problem(
                (key, "qk_norm", "when"),
                "a norm over the full width comes before the heads are split, so before rotary",
                "take over head or per_head, or when before_rotary",
            )


def rule_latent(place: Place) -> Iterator[Problem]:
    """Latent attention has a rotary part and attends to its own tokens."""
    layer = place.layer
    if isinstance(layer.cross_attention, schema.LatentAttention):
        yield Problem(
            ("cross_attention",),
            "latent attention has no form that reads a memory",
            "write `cross_attention: {kind: multi_head, ...}`",
        )
    if not isinstance(layer.attention, schema.LatentAttention):
        return
    if not isinstance(layer.position, schema.Rope):
        yield Problem(
            ("position",),
            "the shared key of latent attention carries a rotary position",
            "take rope",
        )
    elif layer.position.fraction != 1.0:
        yield Problem(
            ("position", "fraction"),
            "rope_head_dim says how many features turn: leave fraction out",
        )
    if place.spec.kind != "decoder" or "attention_weights" in place.spec.outputs:
        yield Problem(
            ("attention", "kind"), "latent attention is for kind decoder, without attention_weights"
        )


def rule_scaling(place: Place) -> Iterator[Problem]:
    """Lists of factors have one for each pair; proportional frequencies fit the half layout."""
    position, attention = place.layer.position, place.layer.attention
    if not isinstance(position, schema.Rope) or attention is None:
        return
    scaling, path = position.scaling, ("position", "scaling")
    head_dim = derived.turned_head_dim(attention, place.spec.d_model)
    pairs = derived.rotary_dim(position, head_dim) // 2
    if isinstance(scaling, schema.LongRopeScaling):
        for field in ("short_factors", "long_factors"):
            factors = scaling.short_factors if field == "short_factors" else scaling.long_factors
            if len(factors) != pairs:
                message = f"{pairs} pairs of features turn, and {field} has {len(factors)} factors"
                yield Problem((*path, field), message)
    if isinstance(scaling, schema.ProportionalScaling) and (
        position.layout != "half" or position.slice != "first"
    ):
        yield Problem(path, "proportional frequencies go with layout half and slice first")
    if isinstance(scaling, schema.DynamicScaling) and pairs < 2:
        yield Problem(path, "dynamic scaling needs at least two pairs: its exponent is r / (r - 2)")


def temperature_diagnostics(spec: schema.Spec) -> Iterator[Diagnostic]:
    """One temperature for a stack, by real tokens: its positions are counted so too."""
    for stack in spec.stacks:
        parts = [
            (layer.attention.temperature, layer.position)
            for layer in stack.types.values()
            if isinstance(layer.attention, schema.Attention)
            and "attention" in layer.block.sublayers
        ]
        found = {temperature for temperature, _ in parts if temperature is not None}
        if len(found) > 1:
            message = "all layers of a stack that have a temperature must have the same one"
            yield Diagnostic(("attention", "temperature"), message)
        kinds = schema.Rope | schema.Learned | schema.Sinusoidal
        others = {p.index for _, p in parts if isinstance(p, kinds)} - {"mask"}
        if found and others:
            yield Diagnostic(
                ("attention", "temperature"),
                f"a temperature counts real tokens, and position index {min(others)} does not",
                "take index mask",
            )


def index_diagnostics(spec: schema.Spec) -> Iterator[Diagnostic]:
    """All layers of a stack count positions alike; counting by ids needs to know the padding."""
    for stack in spec.stacks:
        prefix: SpecPath = (stack.name,) if len(spec.stacks) > 1 else ()
        found = {
            name: layer.position.index
            for name, layer in stack.types.items()
            if isinstance(layer.position, schema.Rope | schema.Learned | schema.Sinusoidal)
        }
        if len(set(found.values())) > 1:
            said = ", ".join(f"{name} {index}" for name, index in found.items())
            message = f"all layers of a stack count positions alike: {said}"
            yield Diagnostic((*prefix, "position", "index"), message)
    pad_id = spec.embedding.pad_id if spec.embedding is not None else None
    offsets = [
        layer.position.offset
        for stack in spec.stacks
        for layer in stack.types.values()
        if isinstance(layer.position, schema.Learned) and layer.position.index == "ids"
    ]
    by_ids = bool(offsets)
    if by_ids and min(offsets) < 1:
        message = "index ids puts padding at place -1, and the table has no row before place 0"
        yield Diagnostic(("position", "offset"), message, "give position.offset of at least 1")
    if by_ids and pad_id is None:
        message = "index ids counts what is not padding, and nothing says which id that is"
        yield Diagnostic(("position", "index"), message, "give embedding.pad_id")
    if pad_id is not None and not by_ids:
        message = "nothing reads embedding.pad_id: it goes with position index ids"
        yield Diagnostic(("embedding", "pad_id"), message)
