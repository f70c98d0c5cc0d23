"""Generated mixtures of experts against loops over tokens, published numbers and their budget."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.utils.flop_counter import FlopCounterMode

from specc.pipeline import compile_fully
from specc.verify import ALL, COMPILING, verify_text
from specc.verify.loading import loaded
from specc.verify.places import mixtures
from specc.verify.subject import Subject

BASE = """
specc: 1
name: tiny
kind: decoder
vocab_size: 40
d_model: 32
n_layers: 2
max_seq_len: 32
norm: rms
block: {{norm_placement: pre}}
position: rope
attention: {{n_heads: 4, n_kv_heads: 2}}
feed_forward: {{kind: experts, activation: silu, d_ff: 24, {}}}
"""
DRAFTS = {
    "renormalised": "n_experts: 8, top_k: 2, renormalise: true",
    "shared_and_gated": "n_experts: 12, top_k: 4, shared: {d_ff: 2 * d_ff, gate: sigmoid}",
    "biased_selection": (
        "n_experts: 16, top_k: 4, score: sigmoid, selection_bias: true, renormalise: true,"
        " renorm_eps: 1e-20, scale: 2.5, shared: {d_ff: d_ff},"
        " groups: {n_groups: 4, n_kept: 2, score: top2_sum, fill: minus_infinity}"
    ),
    "best_of_groups": "n_experts: 12, top_k: 3, scale: 16, groups: {n_groups: 4, n_kept: 2}",
    "biases_and_clamp": (
        "n_experts: 8, top_k: 3, score: topk_softmax, bias: true, router_bias: true, clamp: {}"
    ),
    "weighted_input": (
        "n_experts: 8, top_k: 1, score: sigmoid, apply: input, shared: {d_ff: d_ff}"
    ),
}
QUICK = [check.name for check in ALL if check.name not in COMPILING]


def compilation(draft):
    return compile_fully(text=BASE.format(DRAFTS[draft]))


@pytest.fixture(params=DRAFTS)
def subject(request):
    made = compilation(request.param)
    with loaded(made.artifact.text, request.param) as file:
        yield Subject(made.model, file)


def mixture(subject, dtype=torch.float64):
    live = subject.build_stressed(dtype)
    path, part = next(mixtures(subject.small))
    return live.get_submodule(path), part


def by_token(live, part, x):
    """One token after the other, one of its experts after the other."""
    rows = [_one(live, part, token) for token in x.flatten(0, 1)]
    return torch.stack(rows).view_as(x)


def _one(live, part, token):
    score = _scores(part, live.router(token))
    experts = _chosen(live, part, score)
    weights = score[experts]
    if part.router.score.value == "topk_softmax":
        weights = weights.softmax(0)
    if part.router.renormalise:
        weights = weights / weights.sum()
    if part.router.scale is not None:
        weights = weights * part.router.scale.value
    total = torch.zeros_like(token)
    for weight, expert in zip(weights, experts.tolist(), strict=True):
        if part.router.apply.value == "input":
            total += _expert(live, part, expert, weight * token)
        else:
            total += weight * _expert(live, part, expert, token)
    if part.shared is not None:
        shared = live.shared(token)
        gated = part.shared.gate is not None
        total += live.shared_gate(token).sigmoid() * shared if gated else shared
    return total


def _scores(part, logits):
    kind = part.router.score.value
    return {"softmax": logits.softmax(0), "sigmoid": logits.sigmoid()}.get(kind, logits)


def _chosen(live, part, score):
    selection = score.clone()
    if part.router.selection_bias is not None:
        selection = score + live.selection_bias
    groups = part.router.groups
    if groups is not None:
        each = selection.numel() // groups.n_groups.value
        worth = []
        for group in selection.split(each):
            best = group.sort(descending=True).values
            worth.append((best[0] if groups.score.value == "max" else best[:2].sum()).item())
        ranked = sorted(range(len(worth)), key=lambda g: -worth[g])
        for lost in ranked[groups.n_kept.value :]:
            selection[lost * each : (lost + 1) * each] = -torch.inf
    return selection.sort(descending=True).indices[: part.router.top_k.value]


def _expert(live, part, e, x):
    gate, up = live.gate_proj[e] @ x, live.up_proj[e] @ x
    if part.experts.bias:
        gate, up = gate + live.gate_proj_bias[e], up + live.up_proj_bias[e]
    if part.experts.clamp is None:
        hidden = F.silu(gate) * up
    else:
        gate, up = gate.clamp(max=7.0), up.clamp(-7.0, 7.0)
        hidden = (up + 1) * gate * torch.sigmoid(1.702 * gate)
    y = live.down_proj[e] @ hidden
    return y + live.down_proj_bias[e] if part.experts.bias else y


@pytest.mark.parametrize("shape", [(4, 9), (1, 1), (1, 5), (3, 1)])
def test_equals_the_loop_over_tokens(subject, shape):
    live, part = mixture(subject)
    x = torch.randn(*shape, part.d_model.value, dtype=torch.float64)
    with torch.no_grad():
        found, wanted = live(x), by_token(live, part, x)
    assert (found - wanted).abs().max() < 1e-12 * wanted.abs().max()


def test_both_ways_have_the_same_gradients(subject):
    live, part = mixture(subject)
    token = torch.randn(1, 1, part.d_model.value, dtype=torch.float64)
    grads = []
    for x in (token, token.expand(2, 1, -1)):
        live.zero_grad()
        (live(x).square().sum() / x.size(0)).backward()
        grads.append({name: p.grad.clone() for name, p in live.named_parameters()})
    for name, grad in grads[0].items():
        torch.testing.assert_close(grads[1][name], grad, rtol=1e-10, atol=1e-12)


def test_every_expert_is_chosen_in_the_crowd(subject):
    trace = subject.golden(subject.crowd).trace
    for path, part in mixtures(subject.small):
        chosen = set(trace[f"{path}:experts"].flatten().tolist())
        assert chosen == set(range(part.experts.n_experts.value))


def test_under_autocast(subject):
    live, part = mixture(subject, torch.float32)
    x = torch.randn(4, 9, part.d_model.value, requires_grad=True)
    with torch.autocast("cpu", torch.bfloat16):
        found, lone = live(x), live(x[:1, :1])
        found.float().sum().backward()
    assert found.dtype == lone.dtype == torch.float32
    assert x.grad.isfinite().all()


@pytest.mark.parametrize("draft", ["biased_selection", "biases_and_clamp", "weighted_input"])
def test_passes_all_checks(draft):
    made = compilation(draft)
    report = verify_text(made.model, made.artifact.text, draft, only=QUICK)
    assert report.passed, report.failures


def test_compiles_and_exports():
    made = compilation("biased_selection")
    report = verify_text(made.model, made.artifact.text, "biased_selection", only=COMPILING)
    assert report.passed, report.failures


LOGITS = [1.0, 2.0, 0.5, 3.0, -1.0, 0.0, 2.5, 1.5]
SELECTION_BIAS = [0.0, 0.0, 0.6, -0.2, 0.0, 0.5, 0.0, 0.0]
ROUTES = {
    "softmax over all": ("", [3, 6], [0.402728363822285, 0.24426710019412]),
    "renormalised": ("renormalise: true", [3, 6], [0.622459331201854, 0.377540668798145]),
    "softmax over the chosen": (
        "score: topk_softmax",
        [3, 6],
        [0.622459331201854, 0.377540668798145],
    ),
    "biased selection": (
        "score: sigmoid, selection_bias: true, renormalise: true, scale: 2.5",
        [2, 5],
        [1.38637390660597, 1.11362609339403],
    ),
}


@pytest.mark.parametrize(("fields", "experts", "weights"), ROUTES.values(), ids=ROUTES)
def test_published_routes(fields, experts, weights):
    """Numbers from the models' own code: OLMoE, Mixtral, DeepSeek-V3."""
    extra = f", {fields}" if fields else ""
    made = compile_fully(text=BASE.format(f"n_experts: 8, top_k: 2{extra}"))
    with loaded(made.artifact.text, "routes") as file:
        live = file.model_class().double().layers[0].feed_forward
    with torch.no_grad():
        live.router.weight.zero_()
        live.router.weight[:, 0] = torch.tensor(LOGITS)
        if "selection_bias" in fields:
            live.selection_bias.copy_(torch.tensor(SELECTION_BIAS))
        weight, chosen = live.route(torch.eye(32, dtype=torch.float64)[:1])
    assert chosen[0].tolist() == experts
    torch.testing.assert_close(weight[0], torch.tensor(weights).double(), rtol=1e-6, atol=1e-6)


def test_64_experts_cost_what_the_chosen_four_cost():
    made = compile_fully(text=BASE.format("n_experts: 64, top_k: 4"))
    with loaded(made.artifact.text, "work") as file:
        live = file.model_class().layers[0].feed_forward
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        live(torch.randn(2, 256, 32))
    assert counter.get_total_flops() <= 1.5 * 2 * 512 * 4 * 3 * 32 * 24
