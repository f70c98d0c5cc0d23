"""The parts of a layer, one by one: slots, attention, norms, feed-forwards, positions."""

from __future__ import annotations

from typing import Any

import pytest

from specc.ir.attention import (
    Attention,
    Factor,
    FusedProjection,
    InverseSqrt,
    NormOver,
    QkL2Norm,
    QkNorm,
    Temperature,
    Unscaled,
)
from specc.ir.block import Block
from specc.ir.feed_forward import Glu
from specc.ir.init import LogSqrt
from specc.ir.layers import Cast, LayerNorm, NormWeight, RmsNorm
from specc.ir.positions import Alibi
from specc.ir.sizes import Constant, Size, Width
from tests.unit.lower.build import LAYER_NORM, RMS_NORM, decoder, lowered

D = Size("d_model", 8, "D")
H = Size("n_heads", 2, "H")
E = Size("head_dim", 4, "E")
EPS = Constant("norm_eps", 1e-05)
WIDE = Width(((D,),))


def block(**changes: Any) -> Block:
    return lowered(**decoder(**changes)).stacks[0].layer_types[0].block


def slot_names(placement: str, **more: Any) -> list[tuple[str | None, str | None, str | None]]:
    def name(part: object) -> str | None:
        return part.name if isinstance(part, LayerNorm) else None

    found = block(block={"norm_placement": placement, **more})
    return [(name(s.pre), name(s.post), name(s.out)) for s in found.sublayers]


def test_slots():
    a, f = "attention_norm", "feed_forward_norm"
    assert slot_names("pre") == [(a, None, None), (f, None, None)]
    assert slot_names("post") == [(None, None, a), (None, None, f)]
    assert slot_names("post_sublayer") == [(None, a, None), (None, f, None)]
    assert slot_names("sandwich") == [
        (a, "attention_post_norm", None),
        (f, "feed_forward_post_norm", None),
    ]


def test_parallel_slots():
    parallel = {"wiring": "parallel", "shared_norm": True}
    assert slot_names("pre", wiring="parallel")[1] == ("feed_forward_norm", None, None)
    assert slot_names("pre", **parallel) == [("norm", None, None), ("norm", None, None)]
    assert slot_names("sandwich", **parallel) == [
        ("norm", "attention_post_norm", None),
        ("norm", "feed_forward_post_norm", None),
    ]


def attention(node: dict[str, Any], **changes: Any) -> Attention:
    body = block(attention={"n_heads": 2, **node}, **changes).sublayers[0].body
    assert isinstance(body, Attention)
    return body


def test_fused_projection_has_the_rows_of_q_then_k_then_v():
    plain = attention({"projection": "fused", "bias": {"q": True, "k": True, "v": True}})
    assert isinstance(plain.projections, FusedProjection)
    assert plain.projections.qkv.outputs.letters == "3*H*E"
    assert plain.projections.qkv.bias
    grouped = attention({"projection": "fused", "n_heads": 4, "n_kv_heads": 2})
    assert isinstance(grouped.projections, FusedProjection)
    assert grouped.projections.qkv.outputs.letters == "H*E + 2*K*E"
    assert grouped.projections.qkv.outputs.value == 8 + 2 * 4


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("inv_sqrt_head_dim", InverseSqrt(E)),
        ("one", Unscaled()),
        (0.25, Factor(Constant("attention_scale", 0.25))),
    ],
)
def test_scale(scale, expected):
    assert attention({"scale": scale}).scale == expected


def test_qk_norm_over_head_and_over_the_full_width():
    head = attention({"qk_norm": {"kind": "rms", "weight": "none"}, "n_heads": 4, "n_kv_heads": 2})
    assert isinstance(head.qk_norm, QkNorm)
    assert head.qk_norm.over is NormOver.HEAD
    assert head.qk_norm.q == RmsNorm(
        "q_norm", Width(((head.head_dim,),)), EPS, NormWeight.NONE, Cast.BEFORE_WEIGHT, None
    )
    node = {"kind": "layer", "over": "full", "bias": False}
    full = attention({"qk_norm": node, "n_heads": 4, "n_kv_heads": 2})
    assert isinstance(full.qk_norm, QkNorm)
    assert (full.qk_norm.q.width.letters, full.qk_norm.k.width.letters) == ("H*E", "K*E")
    assert full.qk_norm.k == LayerNorm(
        "k_norm", full.qk_norm.k.width, EPS, NormWeight.PLAIN, bias=False, heads=None
    )


def test_l2_norm_with_a_temperature_that_starts_at_the_root_of_the_head_width():
    found = attention({"qk_norm": {"kind": "l2", "temperature": "per_head"}, "scale": "one"})
    temperature = Temperature("log_scale", H, LogSqrt(E))
    assert found.qk_norm == QkL2Norm(Constant("qk_norm_eps", 1e-12), temperature)
    assert attention({"qk_norm": {"kind": "l2"}}).qk_norm == QkL2Norm(
        Constant("qk_norm_eps", 1e-12), None
    )


def test_norm_defaults():
    def found(node: dict[str, Any]) -> object:
        return block(norm=node).sublayers[0].pre

    assert found({**LAYER_NORM, "weight": "none"}) == LayerNorm(
        "attention_norm", WIDE, EPS, NormWeight.NONE, bias=False, heads=None
    )
    assert found({**RMS_NORM, "weight": "one_plus_w", "cast": "after_weight"}) == RmsNorm(
        "attention_norm",
        WIDE,
        Constant("norm_eps", 1e-6),
        NormWeight.ONE_PLUS,
        Cast.AFTER_WEIGHT,
        None,
    )


def test_gated_feed_forward():
    node = {"kind": "glu", "activation": "silu", "d_ff": 12, "bias": {"up": True}}
    body = block(feed_forward=node).sublayers[1].body
    assert isinstance(body, Glu)
    assert (body.gate.name, body.up.name, body.down.name) == ("gate_proj", "up_proj", "down_proj")
    assert (body.gate.bias, body.up.bias, body.down.bias) == (True, True, False)


def test_alibi():
    assert attention({}, position={"kind": "alibi"}).position == Alibi("alibi", H)
