"""Rules on a block: its sublayers, where they are normed, how they are wired."""

from __future__ import annotations

from collections.abc import Iterator

from specc.lower.rules.places import Place, Problem
from specc.spec import schema


def rule_wiring(place: Place) -> Iterator[Problem]:
    """What parallel wiring asks of the other fields of the block."""
    block = place.layer.block
    if block.wiring == "parallel":
        yield from _parallel(block)
    elif block.shared_norm:
        yield Problem(
            ("block", "shared_norm"),
            "shared_norm is for `wiring: parallel`: sequential sublayers read different streams",
        )


def rule_residual(place: Place) -> Iterator[Problem]:
    """What a residual from the normed input, and empty norm slots, ask of the block."""
    block = place.layer.block
    if block.residual == "normed" and block.norm_placement not in ("pre", "sandwich"):
        yield Problem(
            ("block", "residual"),
            f"residual normed adds to a normed input, and {block.norm_placement} has none",
            "take norm_placement pre or sandwich",
        )
    if block.residual == "normed" and block.wiring == "parallel":
        yield Problem(
            ("block", "residual"), "parallel sublayers add to one stream: residual must be raw"
        )
    if block.residual == "normed" and block.skip_norms:
        yield Problem(
            ("block", "skip_norms"), "residual normed needs the norms that skip_norms leaves out"
        )
    for name in block.skip_norms:
        if name not in block.sublayers:
            yield Problem(("block", "skip_norms"), f"the block has no {name}")
    if block.shared_norm and block.skip_norms:
        yield Problem(
            ("block", "skip_norms"), "a norm that both sublayers read cannot be left out for one"
        )


def _parallel(block: schema.Block) -> Iterator[Problem]:
    if block.norm_placement == "post":
        yield Problem(
            ("block", "wiring"),
            "parallel sublayers end in one sum, so post-norm has no place of its own in each",
            "take norm_placement pre, sandwich or post_sublayer",
        )
    if len(block.sublayers) == 1:
        yield Problem(
            ("block", "wiring"),
            f"one sublayer ({block.sublayers[0]}) cannot be parallel to another",
        )
    if block.shared_norm and block.norm_placement == "post_sublayer":
        yield Problem(
            ("block", "shared_norm"),
            "shared_norm is the norm before the sublayers, and post_sublayer has none there",
        )


def rule_sublayers(place: Place) -> Iterator[Problem]:
    """A block has something in it, and nothing twice."""
    sublayers = place.layer.block.sublayers
    if not sublayers:
        yield Problem(("block", "sublayers"), "a block needs at least one sublayer")
    for name in dict.fromkeys(sublayers):
        if sublayers.count(name) > 1:
            yield Problem(("block", "sublayers"), f"{name} stands in a block more than once")
