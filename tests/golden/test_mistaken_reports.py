"""Reports that are themselves mistaken: what they would repair is right, and must stay as it is.

Each is a case of docs/cases.md. Here they are put to generated files, on the same weights.
"""

from __future__ import annotations

import re

import pytest
import torch
from torch import Tensor

from specc.pipeline import read_model
from specc.render import render
from specc.verify.loading import loaded
from specc.verify.weights import stress_weights
from tests.golden.compare import gap
from tests.specs import spec_path

DECODER = """
specc: 1
name: small
style: decoder, pre-norm, rms norm, relu
vocab_size: 40
d_model: 24
n_layers: 2
max_seq_len: 16
attention: {n_heads: 3, head_dim: 8}
feed_forward: {d_ff: 32}
"""
TOKENS = torch.arange(18).view(2, 9)


class File:
    """The generated file of a spec at its own size, in float64, and its stress weights."""

    def __init__(self, text: str) -> None:
        self.model = read_model(text=text)
        self.weights = stress_weights(self.model)
        self.text = render(self.model)

    def logits(self, weights: dict[str, Tensor] | None = None) -> Tensor:
        with loaded(self.text, "small") as file, torch.no_grad():
            live = file.model_class().double().eval()
            live.reset_parameters()
            live.load_state_dict(weights or self.weights)
            return live(TOKENS)


def test_c34_rotating_halves_and_rotating_neighbours_are_both_right():
    """One model under weights whose rows are reordered; another one under the same weights."""
    half = File(DECODER + "position: rope\n")
    neighbours = File(DECODER + "position: {kind: rope, layout: interleaved}\n")
    order = torch.arange(24).view(3, 4, 2).transpose(1, 2).flatten()
    moved = {
        name: w[order] if re.search(r"[qk]_proj\.weight", name) else w
        for name, w in neighbours.weights.items()
    }
    assert gap(half.logits(moved), neighbours.logits()) < 1e-12
    assert gap(half.logits(neighbours.weights), neighbours.logits()) > 1e-2


def test_c62_a_table_of_sines_first_is_not_repaired():
    """Marian and tensor2tensor trained with it: the spec says which table, and the file obeys."""
    turn_by_turn = File(DECODER + "position: sinusoidal\n")
    sines_first = File(DECODER + "position: {kind: sinusoidal, layout: concat}\n")
    assert gap(sines_first.logits(), turn_by_turn.logits()) > 1e-2
    with loaded(sines_first.text, "small") as file:
        table = file.model_class().position.table
    assert torch.allclose(table[:, :12] ** 2 + table[:, 12:] ** 2, torch.ones(()))
    assert torch.equal(table[0], torch.tensor([0.0] * 12 + [1.0] * 12))


def test_c93_the_tanh_form_is_what_the_weights_of_gpt2_want():
    """torch's fused kernel computes the form of the paper's code; the exact form is another."""
    assert 'approximate="tanh"' in render(read_model(spec_path("gpt2")))
    x = torch.linspace(-6, 6, 1001, dtype=torch.float64)
    written = 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    fused = torch.nn.functional.gelu(x, approximate="tanh")
    assert (fused - written).abs().max() < 1e-12
    assert 4e-4 < (torch.nn.functional.gelu(x) - written).abs().max() < 5e-4


@pytest.mark.parametrize("has_gains", [False, True])
def test_c114_norm_and_turn_commute_only_without_gains(has_gains):
    weight = "w" if has_gains else "none"
    norm = f"qk_norm: {{kind: rms, over: head, weight: {weight}, eps: 1e-12"
    specs = [
        DECODER.replace("head_dim: 8}", f"head_dim: 8, {norm}{when}}}}}") + "position: rope\n"
        for when in ("", ", when: after_rotary")
    ]
    before, after = File(specs[0]), File(specs[1])
    difference = gap(after.logits(before.weights), before.logits())
    assert difference > 1e-3 if has_gains else difference < 1e-9
