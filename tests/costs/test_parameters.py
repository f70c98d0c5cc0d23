"""The card's rows hold the parameters of the live module, module by module, to the unit."""

from __future__ import annotations

import pytest
from torch import nn

from specc.ir.calls import whole
from specc.ir.card import card
from specc.ir.ownership import Role, Row, rows
from specc.ir.parameters import parameter_count
from tests.costs.live import ROOT, SPECS, loaded, whole_size

EMBEDDINGS = ("embedding", "position_embedding", "type_embedding")


def held(live: nn.Module, path: str) -> int:
    """The parameters below a path, which may be a parameter itself; 0 where there is none."""
    inside = (p for name, p in live.named_parameters() if f"{name}.".startswith(f"{path}."))
    return sum(parameter.numel() for parameter in inside)


def found(spec) -> tuple[Row, ...]:
    return rows(loaded(spec).model_ir, whole(2, 7))


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_each_module_holds_what_its_row_says(spec):
    live = whole_size(spec)
    wanted = {path: row.parameters for row in found(spec) for path in row.paths}
    assert {path: held(live, path) for path in wanted} == wanted


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_the_rows_hold_everything_once(spec):
    total = sum(parameter.numel() for parameter in whole_size(spec).parameters())
    paths = [path for row in found(spec) for path in row.paths]
    assert len(set(paths)) == len(paths)
    assert sum(row.count * row.parameters for row in found(spec)) == total
    assert parameter_count(loaded(spec).model_ir) == total


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_a_row_is_of_the_kind_that_its_module_is(spec):
    live = whole_size(spec)
    modules = dict(live.named_modules())
    for row in found(spec):
        for path in row.paths:
            module = modules.get(path)
            kind = type(module).__name__
            assert (row.role is Role.EMBEDDING) >= (kind == "Embedding")
            assert (row.role is Role.NORM) >= (kind.endswith("Norm") and path != "mlm_norm")
            assert (row.role is Role.ATTENTION) == kind.endswith("Attention")
            assert (row.role is Role.FEED_FORWARD) == (
                "FeedForward" in kind or hasattr(module, "top_k")
            )


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_what_a_token_does_not_pass_are_the_experts_that_it_did_not_choose(spec):
    live = whole_size(spec)
    idle = 0
    for module in live.modules():
        if hasattr(module, "top_k"):
            own = sum(p.numel() for n, p in module.named_parameters() if n.count(".") == 0)
            experts = module.gate_proj.size(0)
            assert own % experts == 0
            idle += own // experts * (experts - module.top_k)
    one = card(loaded(spec).model_ir, 1, 4)
    assert one.parameters - one.active == idle


@pytest.mark.parametrize(
    ("name", "total", "active", "embedding"),
    [
        ("gpt2", 124_439_808, 124_439_808, (50_257 + 1024) * 768),
        ("mixtral_8x7b", 46_702_792_704, 12_879_925_248, 32_000 * 4096),
        (
            "deepseek_v3",
            671_026_404_352,
            671_026_404_352 - 58 * 248 * 3 * 7168 * 2048,
            129_280 * 7168,
        ),
    ],
)
def test_published_counts(name, total, active, embedding):
    one = card(loaded(ROOT / "specs" / f"{name}.yaml").model_ir, 1, 4)
    assert (one.parameters, one.active, one.embedding) == (total, active, embedding)
