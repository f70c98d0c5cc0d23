"""Dropout sites: one `dropout` in `Config` when all live sites agree, else a name for each site."""

from __future__ import annotations

from specc.ir.layers import Dropout, DropoutSite
from specc.ir.sizes import Constant
from specc.lower.context import Context
from specc.lower.names import RelativePath, Request, Scope
from specc.spec import schema


def dropout(context: Context, site: DropoutSite, attribute: str) -> Dropout | None:
    """The dropout at a site, held by `attribute`; None where nothing is dropped."""
    rates = _rates(context.spec.dropout)
    p = rates[site]
    if p == 0.0:
        return None
    live = {rate for rate in rates.values() if rate > 0.0}
    base = "dropout" if len(live) == 1 else f"{site.value}_dropout"
    paths: tuple[RelativePath, ...] = (("dropout", site.value),)
    if len(live) == 1:
        paths = (*paths, ("dropout",))
    names = [context.names.ask(Request(base, p, Scope(), path)) for path in paths]
    return Dropout(attribute, site, Constant(names[0], p))


def _rates(node: schema.Dropout) -> dict[DropoutSite, float]:
    return {
        DropoutSite.EMBEDDING: node.embedding,
        DropoutSite.ATTENTION: node.attention,
        DropoutSite.ATTENTION_OUT: node.attention_out,
        DropoutSite.FF_HIDDEN: node.ff_hidden,
        DropoutSite.FF_OUT: node.ff_out,
    }
