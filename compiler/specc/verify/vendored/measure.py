"""Runs golden at the small size and writes down what it gives: the numbers of a test file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import hypot, sqrt

import torch
from torch import Tensor

from specc import golden
from specc.golden.initial import initial_moments
from specc.golden.run import Result
from specc.ir.attention import Attention, QkL2Norm
from specc.ir.layers import Dropout, DropoutSite, LayerNorm, Norm, NormWeight
from specc.ir.model import Model
from specc.ir.parameters import parameter_count, parameters
from specc.ir.walk import resize, walk
from specc.render.tests import Dropped, Facts, NormFact, ParameterFact, Rows, main_head
from specc.verify.places import norms
from specc.verify.sizes import reduced_numbers, reduced_sizes
from specc.verify.vendored.formulas import numbers, padded, plain, summary, waves, weights

NOTHING = 1e-9  # what counts as zero among numbers of size 1

# Modules by the end of their path (with a dot before it), and what holds their probability.
OWNERS = {
    DropoutSite.EMBEDDING: (".dropout", "p"),
    DropoutSite.ATTENTION: ("attention", "dropout"),
    DropoutSite.ATTENTION_OUT: ("attention.output_dropout", "p"),
    DropoutSite.FF_HIDDEN: ("feed_forward.hidden_dropout", "p"),
    DropoutSite.FF_OUT: ("feed_forward.output_dropout", "p"),
}


def measure(model: Model) -> Facts:
    """All numbers that a test file of the model holds."""
    integers = reduced_sizes(model)
    sizes = {**integers, **reduced_numbers(model, integers)}
    small = resize(model, sizes)
    given = weights(small)
    factor = _short_factor(small)
    return Facts(
        sizes=tuple(sizes.items()),
        count=parameter_count(model),
        parameters=tuple(_parameters(small, given)),
        plain=_rows(numbers(golden.run(small, given, plain(small)))),
        padded=_rows(numbers(golden.run(small, given, padded(small)))),
        norms=tuple(_norms(small, given)),
        dropped=tuple(_dropped(small, given)),
        short=None if factor is None else _rows(numbers(_shortened(small, given, factor))),
        short_factor=1.0 if factor is None else factor,
    )


def _rows(tensor: Tensor) -> Rows:
    return tuple(tuple(map(_clean, row)) for row in tensor.tolist())


def _clean(value: float) -> float:
    """What is only rounding becomes 0."""
    return 0.0 if abs(value) < NOTHING else value


def _parameters(model: Model, given: dict[str, Tensor]) -> Iterator[ParameterFact]:
    leaves = {path: weight.clone().requires_grad_() for path, weight in given.items()}
    loss = numbers(golden.run(model, leaves, padded(model))).sum()
    grads = torch.autograd.grad(loss, list(leaves.values()), allow_unused=True)
    pulls = dict(zip(leaves, grads, strict=True))
    moments = initial_moments(model)
    for parameter in parameters(model):
        start = moments[parameter.path]
        grad = pulls[parameter.path]
        yield ParameterFact(
            parameter.path,
            parameter.shape,
            float(f"{hypot(start.mean, start.std):.6g}"),
            0.0 if grad is None else _clean(grad.norm().item()),
        )


def _norms(model: Model, given: dict[str, Tensor]) -> Iterator[NormFact]:
    """One norm of each kind and place; layers of one kind count once."""
    seen: set[tuple[str, Norm]] = set()
    for path, norm in norms(model).items():
        place = (re.sub(r"\.\d+\.", ".*.", path), norm)
        if place in seen:
            continue
        seen.add(place)
        width = norm.width.value
        level = float(f"{sqrt(norm.eps.value):.0e}")
        x = waves(4, width)
        weight = None if norm.weight is NormWeight.NONE else given[f"{path}.weight"]
        has_bias = isinstance(norm, LayerNorm) and norm.bias
        bias = given[f"{path}.bias"] if has_bias else None
        total = (golden.norm(norm, level * x, weight, bias) * x).sum().item()
        yield NormFact(path, norm, level, total)


def _dropped(model: Model, given: dict[str, Tensor]) -> Iterator[Dropped]:
    sites = dict.fromkeys(p.site for p in walk(model.stacks) if isinstance(p, Dropout))
    for site in sites:
        result = golden.run(model, given, padded(model), dropped=site)
        totals = summary(result.outputs[main_head(model).output_name])[:, -1].tolist()
        yield Dropped(*OWNERS[site], totals=tuple(map(_clean, totals)))


def _short_factor(model: Model) -> float | None:
    """Queries and keys of about half their eps."""
    for part in walk(model.stacks):
        if isinstance(part, Attention) and isinstance(part.qk_norm, QkL2Norm):
            return float(f"{part.qk_norm.eps.value / sqrt(part.head_dim.value):.0e}")
    return None


def _shortened(model: Model, given: dict[str, Tensor], factor: float) -> Result:
    endings = ("q_proj.weight", "k_proj.weight", "qkv_proj.weight")
    scaled = {path: w * factor if path.endswith(endings) else w for path, w in given.items()}
    return golden.run(model, scaled, plain(model))
