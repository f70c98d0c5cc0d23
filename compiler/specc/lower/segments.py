"""Layer patterns as segments: the shortest cycle that gives a whole list of layers, or a few runs.

A list that repeats is one segment; one that starts or ends otherwise (dense layers first, say) is
cut where a cycle stops to fit.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """`count` layers that go through `cycle` again and again."""

    cycle: tuple[str, ...]
    count: int


def runs(pattern: tuple[str, ...], n_layers: int) -> tuple[Run, ...]:
    """The pattern repeated to n_layers, as few runs as a greedy cut finds."""
    layers = tuple(pattern[i % len(pattern)] for i in range(n_layers))
    cycle = _period(layers)
    if len(cycle) < max(n_layers, 2) or len(pattern) < n_layers:
        return (Run(_shortest(pattern, layers), n_layers),)
    found: list[Run] = []
    start = 0
    while start < n_layers:
        run = _longest(layers[start:])
        found.append(run)
        start += run.count
    return tuple(found)


def _shortest(pattern: tuple[str, ...], layers: tuple[str, ...]) -> tuple[str, ...]:
    """The cycle of the layers, or the pattern's own when it is longer than all of them."""
    return _period(pattern) if len(pattern) > len(layers) else _period(layers)


def _period(layers: tuple[str, ...]) -> tuple[str, ...]:
    """The shortest start that, repeated, gives all of them."""
    for length in range(1, len(layers)):
        if all(layers[i] == layers[i % length] for i in range(len(layers))):
            return layers[:length]
    return layers


def _longest(layers: tuple[str, ...]) -> Run:
    """The cycle that fits furthest from the first layer on; of several, the shortest.

    A cycle must come round at least twice, else the first layer stands alone with its like.
    """
    best = Run(layers[:1], next((i for i, x in enumerate(layers) if x != layers[0]), len(layers)))
    for length in range(2, len(layers) // 2 + 1):
        count = next((i for i, x in enumerate(layers) if x != layers[i % length]), len(layers))
        if count >= 2 * length and count > best.count:
            best = Run(layers[:length], count)
    return best
