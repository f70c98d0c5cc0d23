"""Spec text -> a validated spec that remembers where each value came from.

`load` is the door: it reads YAML, checks every word, spells out the short forms, merges style,
base, stacks and layer types, works out sizes, fills in defaults and validates. What several fields
mean together is lowering's. The documentation of fields and the JSON Schema are read only when
they are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from specc.spec.effective import EffectiveField
from specc.spec.loaded import LoadedSpec, load

if TYPE_CHECKING:
    from specc.spec.docs import FieldDoc

__all__ = ["EffectiveField", "LoadedSpec", "field_doc", "json_schema", "load"]


def field_doc(path: str) -> FieldDoc:
    """What a field means, by its path (`attention.scale`). Raises UnknownFieldError, a KeyError."""
    from specc.spec.docs import field_doc as look_up

    return look_up(path)


def json_schema() -> dict[str, Any]:
    """A JSON Schema (draft 2020-12) of what a person writes."""
    from specc.spec.json_schema import json_schema as make

    return make()
