"""A part of the IR lives under one name in every room: golden, render and the mutants know it, or
say why not.
"""

import ast
import inspect
import re
from dataclasses import is_dataclass

import pytest

import specc.ir.attention
import specc.ir.block
import specc.ir.feed_forward
import specc.ir.heads
import specc.ir.init
import specc.ir.layers
import specc.ir.positions
from specc.verify.mutants.registry import MUTANTS
from tests.architecture.rooms import TEMPLATES, modules

IR = (
    specc.ir.attention,
    specc.ir.block,
    specc.ir.feed_forward,
    specc.ir.heads,
    specc.ir.init,
    specc.ir.layers,
    specc.ir.positions,
)
PARTS = tuple(
    name
    for module in IR
    for name, value in vars(module).items()
    if inspect.isclass(value) and is_dataclass(value) and value.__module__ == module.__name__
)

# Parts of parts, which are reached as a field of their owner and never told apart by class.
WITHIN = {
    "golden": {"Temperature", "LayerType", "Segment", "Pooler"},
    "render": {"Temperature", "Segment", "Pooler", "OutputGate", "LayerScale", "Projection"},
    "mutants": {
        "Temperature",  # its mistakes are QkL2Norm's
        "LogSqrt",  # the only scheme of a temperature; its mistakes are in the code mutants
        "LayerType",  # its mistakes are Block's
        "FeaturesHead",  # features leave as they are: there is no choice to get wrong
        "FeatureInput",  # features come as they are: there is no choice to get wrong
    },
}


def named_in(room: str) -> set[str]:
    return {
        node.id
        for module in modules()
        if module.room == room
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Name)
    }


def known(room: str) -> set[str]:
    if room == "mutants":
        return {name for name, mutants in MUTANTS.items() if mutants}
    return named_in(room)


@pytest.mark.parametrize("room", WITHIN)
def test_every_part_is_known(room):
    assert set(PARTS) - known(room) <= WITHIN[room]


def test_no_mutants_for_parts_that_are_gone():
    assert set(MUTANTS) <= set(PARTS)


def asked_for() -> list[re.Pattern[str]]:
    """The template names of the render room as patterns; an f-string may fill in any word."""
    found = []
    for module in modules():
        for node in ast.walk(module.tree) if module.room == "render" else ():
            match node:
                case ast.Constant(value=str(text)):
                    found.append(re.escape(text))
                case ast.JoinedStr(values=values):
                    texts = [v.value if isinstance(v, ast.Constant) else None for v in values]
                    found.append("".join("[a-z_]+" if t is None else re.escape(t) for t in texts))
    return [re.compile(pattern) for pattern in found if pattern != "[a-z_]+"]


@pytest.mark.parametrize("template", sorted(TEMPLATES.rglob("*.jinja")), ids=lambda t: t.name)
def test_no_template_is_dead(template):
    name = template.relative_to(TEMPLATES).as_posix().removesuffix(".py.jinja")
    assert any(pattern.fullmatch(name) for pattern in asked_for())
