"""How each parameter starts."""

from __future__ import annotations

from typing import Any

from specc.ir.init import ZEROS, FanInUniform, Normal, StandardNormal, XavierUniform
from specc.ir.parameters import parameters
from specc.ir.sizes import Constant
from tests.unit.lower.build import decoder, encoder_decoder, layer, lowered, stack

STD = Constant("init_std", 0.02)
CROSSED = ("attention", "cross_attention", "feed_forward")


def inits(**init: Any) -> dict[str, object]:
    changes = decoder(
        attention={"n_heads": 2, "bias": dict.fromkeys("qkvo", True)},
        feed_forward={
            "kind": "mlp",
            "activation": "relu",
            "d_ff": 12,
            "bias": {"up": True, "down": True},
        },
        position={"kind": "learned"},
    )
    found = parameters(lowered(**changes, init=init))
    return {p.path.removeprefix("layers.0."): p.init for p in found}


def test_normal_init():
    found = inits()
    assert found["attention.q_proj.weight"] == found["feed_forward.down_proj.weight"] == Normal(STD)
    assert found["embedding.weight"] == found["position_embedding.weight"] == Normal(STD)
    assert found["attention.o_proj.bias"] == ZEROS


def test_xavier_init():
    found = inits(kind="xavier_uniform", std=0.5)
    assert found["attention.o_proj.weight"] == found["head.weight"] == XavierUniform()
    assert found["embedding.weight"] == found["position_embedding.weight"]
    assert found["embedding.weight"] == Normal(Constant("init_std", 0.5))
    assert found["feed_forward.up_proj.bias"] == ZEROS


def test_torch_init():
    found = inits(kind="torch")
    assert found["attention.q_proj.weight"] == found["attention.q_proj.bias"] == FanInUniform()
    assert found["embedding.weight"] == found["position_embedding.weight"] == StandardNormal()


def test_zero_outputs():
    found = inits(kind="torch", outputs="zero")
    outputs = [f"{name}.{part}" for name in ("attention.o_proj", "feed_forward.down_proj")
               for part in ("weight", "bias")]  # fmt: skip
    assert [found[path] for path in outputs] == [ZEROS] * 4
    assert found["feed_forward.up_proj.weight"] == FanInUniform()


def test_depth_scaled_outputs_know_their_own_stack():
    found = lowered(
        **encoder_decoder(decoder=stack(types={"layer": layer(CROSSED)}, n_layers=5)),
        init={"outputs": "depth_scaled"},
    )
    depths = {
        p.path: p.init.depth.name
        for p in parameters(found)
        if isinstance(p.init, Normal) and p.init.depth is not None and ".0." in p.path
    }
    assert depths == {
        "encoder_layers.0.attention.o_proj.weight": "n_encoder_layers",
        "encoder_layers.0.feed_forward.down_proj.weight": "n_encoder_layers",
        "decoder_layers.0.attention.o_proj.weight": "n_decoder_layers",
        "decoder_layers.0.cross_attention.o_proj.weight": "n_decoder_layers",
        "decoder_layers.0.feed_forward.down_proj.weight": "n_decoder_layers",
    }
