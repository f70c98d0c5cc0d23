"""A resolved spec in, the IR out: defaults, derived sizes, patterns, names, rules across fields.

What a person wrote where is not known here: errors carry paths, whoever has the text finds lines.
"""

from __future__ import annotations

from dataclasses import replace

from specc.ir.model import Claim, Kind, Model, Paper
from specc.ir.walk import config_fields
from specc.lower.citations import citations
from specc.lower.context import Context
from specc.lower.heads import head
from specc.lower.names import Names, Settled, paths_to_names, settle
from specc.lower.rules import check, check_names
from specc.lower.stacks import stack
from specc.lower.titles import class_name, title
from specc.spec import schema

__all__ = ["lower"]


def lower(spec: schema.Spec) -> Model:
    """What the spec means. Raises SpecError with every rule that it breaks."""
    check(spec)
    draft = Names()
    _build(spec, draft, {})
    settled = settle(draft.heard)
    check_names(spec, draft.heard, settled)
    return _build(spec, Names(settled), settled)


def _build(spec: schema.Spec, names: Names, settled: Settled) -> Model:
    context = Context(spec, names)
    stacks = tuple(stack(context, node) for node in spec.stacks)
    last = context.inside(stack=spec.stacks[-1].name)
    heads = tuple(head(last, index) for index in range(len(spec.heads)))
    model = Model(
        name=spec.name,
        class_name=class_name(spec),
        title=title(spec),
        kind=Kind(spec.kind),
        paper=_paper(spec.paper),
        layout=None if spec.source is None else spec.source.layout,
        stacks=stacks,
        heads=heads,
        cache="cache" in spec.features,
        generate="generate" in spec.features,
        cpu_decode="cpu_decode" in spec.features,
        attention_weights="attention_weights" in spec.outputs,
        citations=(),
    )
    found = {field.name for field in config_fields(model)} if settled else set()
    config_names = paths_to_names(names.heard, settled, context.has_two_stacks) if settled else {}
    known = {path: name for path, name in config_names.items() if name in found}
    return replace(model, citations=citations(spec.ledger, known))


def _paper(node: schema.Paper | None) -> Paper | None:
    if node is None:
        return None
    claims = node.claims
    claim = None if claims is None else Claim(claims.parameters, claims.tolerance)
    return Paper(node.title, node.arxiv, node.url, claim)
