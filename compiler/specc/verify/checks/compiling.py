"""torch.compile as one graph, and torch.export with dynamic batch and length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast as typed

import torch
from torch import Tensor, nn
from torch.fx import GraphModule

from specc.verify.calls import Outputs, arguments, call, named
from specc.verify.checks.cache import chunked
from specc.verify.checks.check import Check, counted
from specc.verify.exports import exported, other_sizes
from specc.verify.inputs import LENGTH, cast
from specc.verify.metrics import margin, worst_error
from specc.verify.report import Outcome, failed, passed
from specc.verify.subject import Subject

Run = Callable[[nn.Module], Outputs]
Backend = Callable[[GraphModule, list[Tensor]], Callable[..., object]]

LIMIT = 1e-5
MOST_GRAPHS = 8


@dataclass(frozen=True)
class Compile(Check):
    """torch.compile captures forward as one graph, which gives the same outputs."""

    name: str = "compile"

    def run(self, subject: Subject) -> Outcome:
        """With `inductor` the real backend, else one that runs the captured graph as it is."""
        torch.compiler.reset()
        live = subject.build_stressed(torch.float32)
        graphs: list[int] = []
        backend: str | Backend = "inductor" if subject.inductor else _counting(graphs)
        compiled = typed(nn.Module, torch.compile(live, fullgraph=True, backend=backend))
        worst = 0.0
        runs = 0
        for what, run in _runs(subject):
            with torch.no_grad():
                error, output = worst_error(run(compiled), run(live))
            if error > LIMIT:
                return failed(
                    f"{output}, {what}, is off by {error:.1e} (limit {LIMIT:.0e})",
                    margin(error, LIMIT),
                )
            worst = max(worst, error)
            runs += 1
        torch.compiler.reset()
        if len(graphs) > MOST_GRAPHS:
            return failed(f"{len(graphs)} compilations for {runs} kinds of call")
        by = "inductor" if subject.inductor else f"captured {counted(len(graphs), 'time')}"
        return passed(f"max relative error {worst:.1e} over {counted(runs, 'kind')} of call, {by}")


def _counting(graphs: list[int]) -> Backend:
    def backend(graph: GraphModule, inputs: list[Tensor]) -> Callable[..., object]:
        graphs.append(len(inputs))
        return graph.forward

    return backend


def _runs(subject: Subject) -> list[tuple[str, Run]]:
    model = subject.small
    plain, padded = cast(subject.plain, torch.float32), cast(subject.padded, torch.float32)
    runs: list[tuple[str, Run]] = [
        ("no padding", lambda live: call(live, model, plain)),
        ("padded", lambda live: call(live, model, padded)),
    ]
    if model.cache and len(model.stacks) == 1:
        steps = (4,) + (1,) * (LENGTH - 4)
        runs.append(("with a cache", lambda live: chunked(live, model, plain, steps)))
    return runs


@dataclass(frozen=True)
class Export(Check):
    """torch.export gives one program for every batch size and length."""

    name: str = "export"

    def run(self, subject: Subject) -> Outcome:
        """One exported program must serve other batches and lengths than it was traced with."""
        live = subject.build_stressed(torch.float32)
        worst = 0.0
        for what, inputs in (("no padding", subject.plain), ("padded", subject.padded)):
            given = cast(inputs, torch.float32)
            program = exported(live, subject.small, given).module()
            for other in (given, *other_sizes(given)):
                with torch.no_grad():
                    found = named(subject.small, program(**arguments(subject.small, other)))
                error, output = worst_error(found, subject.outputs(live, other))
                if error > LIMIT:
                    return failed(
                        f"{output}, {what}, is off by {error:.1e} (limit {LIMIT:.0e})",
                        margin(error, LIMIT),
                    )
                worst = max(worst, error)
        return passed(
            f"max relative error {worst:.1e} at 3 lengths and 2 batch sizes, padded or not"
        )
