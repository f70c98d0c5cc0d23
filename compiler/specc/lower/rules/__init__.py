"""The rules across fields: what Pydantic cannot see in one node.

All are checked, so that one run shows all that is wrong; builders may then take them for granted.
"""

from __future__ import annotations

from collections.abc import Iterable

from specc.diagnostics import Diagnostic, SpecError
from specc.lower.names import Request, Settled
from specc.lower.rules.experts import rule_clamp, rule_experts
from specc.lower.rules.heads import embedding_diagnostics, head_diagnostics
from specc.lower.rules.kinds import kind_diagnostics, memory_diagnostics, rule_memory
from specc.lower.rules.naming import name_diagnostics
from specc.lower.rules.norms import other_norms, rule_layer_norms
from specc.lower.rules.patterns import pattern_diagnostics
from specc.lower.rules.places import layer_diagnostics
from specc.lower.rules.positions import rule_position, table_diagnostics
from specc.lower.rules.reach import (
    index_diagnostics,
    rule_latent,
    rule_qk_norm,
    rule_reach,
    rule_scaling,
    temperature_diagnostics,
)
from specc.lower.rules.widths import rule_attention, rule_missing_parts, rule_rotary
from specc.lower.rules.wiring import rule_residual, rule_sublayers, rule_wiring
from specc.spec import schema

__all__ = ["check", "check_names"]

_LAYER_RULES = (
    rule_sublayers,
    rule_missing_parts,
    rule_memory,
    rule_wiring,
    rule_residual,
    rule_layer_norms,
    rule_attention,
    rule_clamp,
    rule_experts,
    rule_position,
    rule_rotary,
    rule_reach,
    rule_qk_norm,
    rule_latent,
    rule_scaling,
)
_SPEC_RULES = (
    kind_diagnostics,
    memory_diagnostics,
    pattern_diagnostics,
    table_diagnostics,
    other_norms,
    head_diagnostics,
    embedding_diagnostics,
    index_diagnostics,
    temperature_diagnostics,
)


def check(spec: schema.Spec) -> None:
    """Raise SpecError with every rule that the spec breaks."""
    found = list(layer_diagnostics(spec, _LAYER_RULES))
    for rule in _SPEC_RULES:
        found += rule(spec)
    _refuse(found)


def check_names(spec: schema.Spec, heard: Iterable[Request], settled: Settled) -> None:
    """Raise SpecError for names that mean two things, once all numbers have theirs."""
    _refuse(list(name_diagnostics(spec, heard, settled)))


def _refuse(found: list[Diagnostic]) -> None:
    if found:
        raise SpecError(found)
