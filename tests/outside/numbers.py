"""The numbers from outside that lowering's mistakes must miss: each raises where one is missed."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from specc.ir.parameters import parameter_count
from specc.pipeline import compile_fully, read_model
from specc.render import render
from specc.verify.loading import loaded
from tests.golden.compare import gap
from tests.outside.foreign import FOREIGN, foreign_gap
from tests.seeds.test_seeds import CASES, answer, built
from tests.seeds.vectors import vector
from tests.specs import spec_path
from tests.unit.lower.test_specs import PUBLISHED

TRANSLATOR = """
specc: 1
name: translator
style: encoder-decoder, pre-norm, layer norm, sinusoidal, tied weights, relu
vocab_size: 50
d_model: 64
max_seq_len: 16
attention: {n_heads: 4}
feed_forward: {d_ff: 128}
encoder: {n_layers: 2}
decoder: {n_layers: 8}
init: {outputs: depth_scaled}
"""


class MissedError(Exception):
    """What was made misses a number from outside."""


def count(name: str) -> None:
    """The parameters that were published for the model."""
    found = parameter_count(read_model(spec_path(name)))
    if found != PUBLISHED[name]:
        raise MissedError(f"{found:,} parameters, published are {PUBLISHED[name]:,}")


def claim(name: str) -> None:
    """What the paper says, within the tolerance that the spec allows it."""
    model = read_model(spec_path(name))
    said = None if model.paper is None else model.paper.claim
    found = parameter_count(model)
    if said is None or abs(found - said.parameters) > said.tolerance * said.parameters:
        raise MissedError(f"{found:,} parameters, claimed are {said}")


def foreign(name: str) -> None:
    """The model of transformers, in float64."""
    found = foreign_gap(name)
    if found > FOREIGN[name].limit:
        raise MissedError(f"logits are off by {found:.1e}")


def seed(name: str) -> None:
    """The answers of the seed's own code."""
    v = vector(name)
    compilation = compile_fully(spec_path(name))
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with loaded(compilation.artifact.text, name) as file:
            model = built(file.model_class, file.config_class, v)
            for each, output, case in CASES:
                if each == name:
                    found = gap(answer(model, v, case), v.answer(case, output))
                    if found > 1e-12:
                        raise MissedError(f"{output}, {case}, is off by {found:.1e}")
    finally:
        torch.set_default_dtype(before)


def starts(_name: str) -> None:
    """0.02 / sqrt(2 L) for the ends of a decoder's branches: 0.005 for 8 layers, 0.01 for 2."""
    model = read_model(text=TRANSLATOR)
    with loaded(render(model), model.name) as file:
        torch.manual_seed(0)
        live = file.model_class()
        for name, std in (("encoder", 0.01), ("decoder", 0.005)):
            found = (
                live.get_parameter(f"{name}_layers.0.feed_forward.down_proj.weight").detach().std()
            )
            if not math.isclose(float(found), std, rel_tol=0.05):
                raise MissedError(f"the {name}'s branches start with std {found:.4f}, not {std}")


KINDS: dict[str, Callable[[str], None]] = {
    "count": count,
    "claim": claim,
    "foreign": foreign,
    "seed": seed,
    "starts": starts,
}


def ask(question: str) -> None:
    """`foreign llama`: raises what is wrong."""
    kind, _, name = question.partition(" ")
    KINDS[kind](name)
