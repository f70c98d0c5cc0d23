"""Which layers share a class of block: those whose slots are alike, whatever stands in them.

A sublayer's body that has one class in all of these layers is made by the block; one that has
several is made beside the block and handed to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace

from specc.ir.block import Block, Sublayer
from specc.render.block import BlockContext, Given, body_call
from specc.render.classes import Role, structure
from specc.render.views import ViewText

ClassOf = Callable[[Role[Block], Sublayer], str]


def shared_blocks(
    blocks: Sequence[Role[Block]], views: Mapping[str, ViewText], class_of: ClassOf
) -> dict[tuple[str, str], Role[Block]]:
    """The role of each layer's block, by stack and layer type.

    `blocks` have their bodies as those bodies' classes have them.
    """
    groups: dict[object, list[Role[Block]]] = {}
    for role in blocks:
        key = _slots(role.part), views.get(role.stack)
        groups.setdefault(key, []).append(role)
    found = {}
    for group in groups.values():
        first = group[0].part
        all_given = [_given(i, group, class_of) for i in range(len(first.sublayers))]
        given = tuple(g for g in all_given if len(g.classes) > 1)
        context = BlockContext(views.get(group[0].stack), given)
        for role in group:
            block = _with_bodies(role.part, first, {g.name for g in given})
            found[role.stack, role.layer_type] = replace(role, part=block, context=context)
    return found


def _with_bodies(block: Block, first: Block, given: set[str]) -> Block:
    """The block with the first's body where the body is given: no class depends on it."""
    pairs = zip(block.sublayers, first.sublayers, strict=True)
    return replace(
        block,
        sublayers=tuple(replace(s, body=f.body) if s.name in given else s for s, f in pairs),
    )


def _slots(block: Block) -> object:
    """All that a block says but its bodies, and how these are called."""
    return block.wiring, tuple(
        (
            tuple(structure(getattr(s, f.name)) for f in fields(s) if f.name != "body"),
            body_call(s.body),
        )
        for s in block.sublayers
    )


def _given(index: int, group: list[Role[Block]], class_of: ClassOf) -> Given:
    names = [class_of(role, role.part.sublayers[index]) for role in group]
    return Given(group[0].part.sublayers[index].name, tuple(dict.fromkeys(names)))
