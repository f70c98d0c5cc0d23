"""Small resolved specs by hand: a tiny decoder and what differs from it."""

from __future__ import annotations

from typing import Any

import pytest

from specc.diagnostics import Diagnostic, SpecError
from specc.ir.model import Model
from specc.lower import lower
from specc.spec.schema import Spec

LAYER_NORM = {"kind": "layer", "eps": 1e-5}
RMS_NORM = {"kind": "rms", "eps": 1e-6}
HEADS = {"n_heads": 2}
MLP = {"kind": "mlp", "activation": "relu", "d_ff": 12}


def layer(sublayers=("attention", "feed_forward"), **changes: Any) -> dict[str, Any]:
    block = {"norm_placement": "pre", "sublayers": sublayers, **changes.pop("block", {})}
    parts: dict[str, Any] = {"attention": HEADS, "cross_attention": HEADS, "feed_forward": MLP}
    whole = {
        "block": block,
        "norm": LAYER_NORM,
        "position": {"kind": "none"},
        **{key: node if key in block["sublayers"] else None for key, node in parts.items()},
        **changes,
    }
    for key in ("attention", "cross_attention"):
        if whole[key] is not None:
            whole[key] = {"kind": "multi_head", **whole[key]}
    return whole


def stack(name="decoder", types=None, pattern=None, **changes: Any) -> dict[str, Any]:
    types = types or {"layer": layer()}
    return {
        "name": name,
        "n_layers": 3,
        "pattern": tuple(pattern or types),
        "types": types,
        "final_norm": None,
        **changes,
    }


def spec(**changes: Any) -> Spec:
    whole: dict[str, Any] = {
        "specc": 1,
        "name": "tiny",
        "kind": "decoder",
        "features": (),
        "vocab_size": 11,
        "d_model": 8,
        "max_seq_len": 16,
        "embedding": {},
        "stacks": (stack(),),
        "heads": ({"kind": "language_model"},),
        "dropout": {},
        "init": {},
    }
    return Spec.model_validate({**whole, **changes})


def decoder(**changes: Any) -> dict[str, Any]:
    """`stacks` of a model with one layer type."""
    return {"stacks": (stack(types={"layer": layer(**changes)}),)}


def two_types(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """`stacks` of a model with the layer types local and global."""
    return {"stacks": (stack(types={"local": layer(**first), "global": layer(**second)}),)}


def encoder_decoder(encoder=None, decoder=None, **changes: Any) -> dict[str, Any]:
    crossed = ("attention", "cross_attention", "feed_forward")
    return {
        "kind": "encoder_decoder",
        "stacks": (
            encoder or stack("encoder"),
            decoder or stack("decoder", {"layer": layer(crossed)}),
        ),
        **changes,
    }


def features(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "features",
        "vocab_size": None,
        "embedding": None,
        "heads": ({"kind": "features"},),
        "stacks": (stack(types={"layer": layer(("cross_attention", "feed_forward"))}),),
        **changes,
    }


def lowered(**changes: Any) -> Model:
    return lower(spec(**changes))


def refused(**changes: Any) -> tuple[Diagnostic, ...]:
    with pytest.raises(SpecError) as caught:
        lowered(**changes)
    return caught.value.diagnostics
