"""Models as foreign configs: the way back of `configs`, from the IR.

For comparing a model with the library that its weights come from. One dialect for each class of
the library; of those of a layout, the first that can say the model is taken.
"""

from __future__ import annotations

from specc.importers.hf_configs import dense, early, experts
from specc.importers.hf_configs.dialect import Dialect
from specc.importers.hf_configs.facts import Facts, NoDialectError
from specc.ir.model import Model

__all__ = ["DIALECTS", "Dialect", "Facts", "NoDialectError", "dialect_of"]

DIALECTS = (*dense.DIALECTS, *early.DIALECTS, *experts.DIALECTS)


def dialect_of(model: Model) -> Dialect:
    """The config that says this model. Raises NoDialectError."""
    if model.layout is None:
        raise NoDialectError(f"{model.name} has no source.layout: nobody's weights fit it")
    facts = Facts(model)
    for dialect in DIALECTS:
        if dialect.layout == model.layout and dialect.says(facts):
            return dialect
    raise NoDialectError(f"no known class of transformers computes {model.name}")
