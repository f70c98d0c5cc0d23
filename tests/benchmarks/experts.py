"""A generated mixture of experts against its budget: 64 experts of which 4 are chosen, 512 tokens.

Counts floating-point operations and measures time, beside the loop that runs every expert on every
token. Run by `make bench`. Exits with 1 above 1.5 times the work of the chosen experts, or where
the dense loop is faster.
"""

import statistics
import sys
import time
from collections.abc import Callable
from types import ModuleType

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from specc import compile_spec

SPEC = """
specc: 1
name: bench
kind: decoder
vocab_size: 16
d_model: 256
n_layers: 1
norm: rms
block: {norm_placement: pre}
position: none
attention: {n_heads: 4}
feed_forward: {kind: experts, n_experts: 64, top_k: 4, d_ff: 128, activation: silu}
"""
BATCH, LENGTH = 2, 256
BUDGET = 1.5
RUNS = 5


def mixture() -> nn.Module:
    """The generated class, with weights from its own initialisation."""
    module = ModuleType("bench")
    sys.modules["bench"] = module
    exec(compile_spec(text=SPEC).text, vars(module))
    made: nn.Module = vars(module)["MixtureOfExperts"](vars(module)["Config"]())
    return made


def dense(live: nn.Module, x: Tensor) -> Tensor:
    """Every expert on every token; those that a token did not choose weigh 0."""
    tokens = x.flatten(0, 1)
    weight, chosen = live.route(tokens)
    weights = torch.zeros(len(tokens), len(live.gate_proj)).scatter(1, chosen, weight)
    mixed = torch.zeros_like(tokens)
    for i, (gate, up, down) in enumerate(zip(*live.stacked(), strict=True)):
        hidden = functional.silu(tokens @ gate.T) * (tokens @ up.T)
        mixed += weights[:, i, None] * (hidden @ down.T)
    return mixed.view_as(x)


def seconds(run: Callable[[Tensor], Tensor], x: Tensor) -> float:
    """The median of some runs, after one to warm up."""
    times = []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        run(x)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def operations(run: Callable[[Tensor], Tensor], x: Tensor) -> int:
    """Floating-point operations of matrix products."""
    with FlopCounterMode(display=False) as counter:
        run(x)
    return counter.get_total_flops()


def main() -> int:
    torch.manual_seed(0)
    live = mixture()
    x, token = torch.randn(BATCH, LENGTH, 256), torch.randn(1, 1, 256)

    def grouped(lone: Tensor) -> Tensor:
        weight, chosen = live.route(lone.flatten(0, 1))
        return live.group_tokens(lone.flatten(0, 1), weight, chosen)

    ways = {"grouped by expert": live, "dense loop": lambda x: dense(live, x)}
    with torch.no_grad():
        gap = (live(x) - dense(live, x)).abs().max().item()
        least = 2 * BATCH * LENGTH * 4 * 3 * 256 * 128
        work = {name: operations(run, x) / least for name, run in ways.items()}
        times = {name: seconds(run, x) for name, run in ways.items()}
        lone = {"gathered": seconds(live, token), "grouped": seconds(grouped, token)}
    print(f"{BATCH * LENGTH} tokens, 4 of 64 experts each; the ways differ by {gap:.0e}")
    for name in ways:
        print(
            f"{name:<20}{work[name]:6.2f} x the chosen experts' work (budget {BUDGET})"
            f"{times[name] * 1e3:9.1f} ms"
        )
    print("one token:", ", ".join(f"{name} {spent * 1e3:.2f} ms" for name, spent in lone.items()))
    slower = times["grouped by expert"] >= times["dense loop"]
    return int(work["grouped by expert"] > BUDGET or slower)


if __name__ == "__main__":
    sys.exit(main())
