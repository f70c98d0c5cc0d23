"""`Config` names: shared where equal, with the shortest suffix that tells apart where not."""

from __future__ import annotations

from typing import Any

from specc.ir.attention import Attention, InverseSqrt
from specc.ir.positions import Rotary
from specc.ir.walk import config_fields, walk
from tests.unit.lower.build import (
    LAYER_NORM,
    decoder,
    encoder_decoder,
    layer,
    lowered,
    stack,
    two_types,
)

CROSSED = ("attention", "cross_attention", "feed_forward")


def config(**changes: Any) -> dict[str, int | float]:
    return {field.name: field.value for field in config_fields(lowered(**changes))}


def rope(theta: float, **more: Any) -> dict[str, Any]:
    return {"position": {"kind": "rope", "theta": theta, **more}}


def test_equal_numbers_share_a_name():
    found = config(**two_types(rope(1e4), rope(1e4)))
    assert found["rope_theta"] == 1e4
    assert not any(name.startswith("rope_theta_") for name in found)


def test_differing_thetas_carry_the_layer_type():
    model = lowered(**two_types(rope(1e4), rope(1e6)))
    found = {field.name: field.value for field in config_fields(model)}
    assert (found["rope_theta_local"], found["rope_theta_global"]) == (1e4, 1e6)
    assert "rope_theta" not in found
    tables = {
        part.name: part.theta.value for part in walk(model.stacks) if isinstance(part, Rotary)
    }
    assert tables == {"rotary_local": 1e4, "rotary_global": 1e6}


def test_one_table_is_called_rotary_whatever_the_types():
    model = lowered(**two_types(rope(1e4), {**rope(1e4), "norm": {**LAYER_NORM, "eps": 1e-3}}))
    assert {part.name for part in walk(model.stacks) if isinstance(part, Rotary)} == {"rotary"}


def test_tables_that_differ_in_one_field_are_two():
    model = lowered(**two_types(rope(1e4), rope(1e4, layout="interleaved")))
    names = [part.name for part in walk(model.stacks) if isinstance(part, Rotary)]
    assert names == ["rotary_local", "rotary_global"]
    assert "rope_theta" in {field.name for field in config_fields(model)}


def test_three_types_two_values():
    types = {
        "dense": layer(feed_forward={"kind": "mlp", "activation": "relu", "d_ff": 32}, **rope(1e4)),
        "local": layer(**rope(1e4)),
        "nope": layer(),
    }
    model = lowered(stacks=(stack(types=types, pattern=("dense", "local", "nope")),))
    found = {field.name: field.value for field in config_fields(model)}
    assert found["d_ff_dense"] == 32
    assert found["d_ff_local"] == 12  # of the nope layers too: one value, one name
    assert found["rope_theta"] == 1e4
    assert "d_ff" not in found
    assert "d_ff_nope" not in found


def test_differing_stacks_carry_the_stack():
    wide = {"kind": "mlp", "activation": "relu", "d_ff": 32}
    found = config(**encoder_decoder(encoder=stack("encoder", {"layer": layer(feed_forward=wide)})))
    assert (found["d_ff_encoder"], found["d_ff_decoder"]) == (32, 12)
    assert (found["n_encoder_layers"], found["n_decoder_layers"]) == (3, 3)
    assert "n_layers" not in found


def test_differing_cross_attention_carries_its_part():
    crossed = layer(CROSSED, cross_attention={"n_heads": 4})
    found = config(**encoder_decoder(decoder=stack(types={"layer": crossed})))
    assert (found["n_heads"], found["n_heads_cross"]) == (2, 4)
    assert (found["head_dim"], found["head_dim_cross"]) == (4, 2)


def test_norms_of_one_eps_share_it():
    found = config(embedding={"norm": LAYER_NORM}, stacks=(stack(final_norm=LAYER_NORM),))
    assert [name for name in found if name.endswith("eps")] == ["norm_eps"]


def test_norms_of_other_eps_carry_their_role():
    found = config(
        embedding={"norm": {**LAYER_NORM, "eps": 1e-12}},
        stacks=(stack(final_norm={**LAYER_NORM, "eps": 1e-3}),),
        heads=(
            {
                "kind": "masked_language_model",
                "activation": "relu",
                "norm": {**LAYER_NORM, "eps": 1e-4},
            },
        ),
    )
    assert {name: value for name, value in found.items() if name.endswith("eps")} == {
        "norm_eps": 1e-5,
        "embedding_norm_eps": 1e-12,
        "final_norm_eps": 1e-3,
        "mlm_norm_eps": 1e-4,
    }


def test_final_norms_of_two_stacks():
    encoder = stack("encoder", final_norm={**LAYER_NORM, "eps": 1e-3})
    crossed = stack("decoder", {"layer": layer(CROSSED)}, final_norm={**LAYER_NORM, "eps": 1e-4})
    found = config(**encoder_decoder(encoder, crossed))
    assert (found["final_norm_eps_encoder"], found["final_norm_eps_decoder"]) == (1e-3, 1e-4)


def test_qk_norm_takes_the_layers_eps_unless_it_has_its_own():
    def eps_names(**node: Any) -> set[str]:
        found = config(**decoder(attention={"n_heads": 2, "qk_norm": node}))
        return {name for name in found if name.endswith("eps")}

    assert eps_names(kind="rms") == {"norm_eps"}
    assert eps_names(kind="rms", eps=1e-5) == {"norm_eps"}
    assert eps_names(kind="rms", eps=1e-3) == {"norm_eps", "qk_norm_eps"}
    assert eps_names(kind="l2", eps=1e-5) == {"norm_eps", "qk_norm_eps"}


def attention(**changes: Any) -> Attention:
    body = lowered(**decoder(**changes)).stacks[0].layer_types[0].block.sublayers[0].body
    assert isinstance(body, Attention)
    return body


def test_every_head_with_its_own_keys_has_one_size():
    for node in ({"n_heads": 2}, {"n_heads": 2, "n_kv_heads": 2}):
        part = attention(attention=node)
        assert part.n_kv_heads is part.n_heads or part.n_kv_heads == part.n_heads
        assert not part.is_grouped
        assert part.n_kv_heads.letter == "H"


def test_grouped_heads_have_two():
    part = attention(attention={"n_heads": 4, "n_kv_heads": 2})
    assert part.is_grouped
    assert (part.n_kv_heads.name, part.n_kv_heads.letter) == ("n_kv_heads", "K")


def test_head_dim_is_derived_or_free():
    assert attention(attention={"n_heads": 2}).head_dim.value == 4
    part = attention(attention={"n_heads": 3, "head_dim": 6})
    assert (part.head_dim.value, part.output.inputs.value) == (6, 18)


def test_a_partial_rotary_has_a_size_of_its_own():
    def rotary(fraction: float) -> Rotary:
        changes = {"attention": {"n_heads": 1}, **rope(1e4, fraction=fraction)}
        position = attention(**changes).position
        assert isinstance(position, Rotary)
        return position

    assert not rotary(1.0).is_partial
    assert rotary(1.0).rotary_dim == rotary(1.0).head_dim
    assert rotary(0.3).is_partial
    assert (rotary(0.3).rotary_dim.name, rotary(0.3).rotary_dim.value) == ("rotary_dim", 2)


def test_a_scale_of_another_width_has_a_name_of_its_own():
    part = attention(attention={"n_heads": 2, "scale": {"inv_sqrt": 9}})
    assert isinstance(part.scale, InverseSqrt)
    assert (part.scale.width.name, part.scale.width.value) == ("attention_scale_width", 9)


def test_dropout_of_one_rate_has_one_name():
    found = config(dropout={"embedding": 0.1, "ff_out": 0.1})
    assert {name for name in found if "dropout" in name} == {"dropout"}


def test_dropout_of_two_rates_is_named_by_site():
    rates = {"embedding": 0.1, "attention": 0.2, "attention_out": 0.1, "ff_hidden": 0.3}
    found = config(dropout={**rates, "ff_out": 0.1})
    assert {name: value for name, value in found.items() if "dropout" in name} == {
        "embedding_dropout": 0.1,
        "attention_dropout": 0.2,
        "attention_out_dropout": 0.1,
        "ff_hidden_dropout": 0.3,
        "ff_out_dropout": 0.1,
    }


def test_two_classifiers_of_differing_width():
    heads = (
        {"kind": "classifier", "name": "topic", "pool": "mean", "n_classes": 3},
        {"kind": "classifier", "name": "tone", "pool": "mean", "n_classes": 5},
    )
    found = config(heads=heads)
    assert (found["n_classes_topic"], found["n_classes_tone"]) == (3, 5)
    model = lowered(heads=heads)
    assert [head.projection.name for head in model.heads] == ["topic", "tone"]
