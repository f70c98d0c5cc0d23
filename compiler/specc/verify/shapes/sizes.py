"""Numbers for `Config` and for runs that no two letters share: not halves nor products either.

`Config` is filled by the names of its fields, so that a file without a spec can be run as well.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement, count

POOLS = {
    "vocab_size": (37, 43, 47),
    "padded_vocab_size": (53, 59),
    "max_seq_len": (61, 67, 71),
    "d_model": (22, 26, 34),
    "n_heads": (6, 12, 18, 24),  # each a multiple of every n_kv_heads
    "n_kv_heads": (3, 2, 1),
    "head_dim": (10, 14, 26, 34),
    "rotary_dim": (4, 8),
    "d_ff": (28, 32, 38, 46, 58),
    "nope_head_dim": (14, 22),
    "value_head_dim": (16, 20),
    "kv_rank": (52, 62),
    "q_rank": (74, 82),
    "embedding_width": (23, 29),
    "window": (4,),
    "chunk": (5,),
    "n_types": (7,),
    "n_classes": (11, 13, 17),
    "n_experts": (25, 35),  # in groups of 5 or 7, of which 2 hold enough to choose from
    "top_k": (7, 9),
    "n_groups": (5,),
    "n_kept_groups": (4, 3, 2),
}
MOST_LAYERS = 8  # enough for the patterns in use


def small_config(config_class: type) -> Iterator[dict[str, int]]:
    """Sizes for a `Config` to try in turn: all apart, then a width that the heads fill."""
    defaults = {f.name: f.default for f in dataclasses.fields(config_class)}
    sizes: dict[str, int] = {}
    for name, default in defaults.items():
        if not isinstance(default, int) or isinstance(default, bool):
            continue
        base = max((b for b in POOLS if _is_named(name, b)), key=len, default=None)
        if base is not None:
            taken = set(sizes.values())
            free = (number for number in POOLS[base] if number not in taken)
            sizes[name] = next(free, POOLS[base][0])
        elif name.startswith("n_") and "layers" in name:
            sizes[name] = min(default, MOST_LAYERS)
    yield sizes
    if "n_heads" in sizes and "d_model" in sizes:
        yield {**sizes, "d_model": sizes["n_heads"] * sizes.get("head_dim", 10)}


def small_tuples(config_class: type, sizes: Mapping[str, int]) -> dict[str, tuple[float, ...]]:
    """Tuples of factors, cut to the pairs of features that are left to turn."""
    pairs = sizes.get("rotary_dim", sizes.get("head_dim", 2)) // 2
    defaults = {f.name: f.default for f in dataclasses.fields(config_class)}
    return {name: value[:pairs] for name, value in defaults.items() if isinstance(value, tuple)}


def _is_named(name: str, base: str) -> bool:
    return name == base or name.startswith(f"{base}_")


@dataclass(frozen=True)
class Setting:
    """The lengths of some runs: first tokens, then more of them, a memory, and a cache's room."""

    batch: int
    first: int
    more: int
    memory: int
    capacity: int


def settings(config: Mapping[str, int]) -> tuple[Setting, Setting]:
    """Two settings that differ in everything. Within one, and from `Config`, all numbers do."""
    taken = _taken(config.values())
    one = _setting(taken, [set() for _ in range(5)])
    two = _setting(taken, [{number} for number in dataclasses.astuple(one)])
    return one, two


def _taken(sizes: Iterable[int]) -> set[int]:
    """What a comment can make of the sizes: themselves, halves, products and three times these."""
    small = sorted({size for size in sizes if size < 1000})
    products = {a * b for a, b in combinations_with_replacement(small, 2)}
    return {1, *small, *(size // 2 for size in small), *products, *(3 * p for p in products)}


def _setting(taken: set[int], avoided: list[set[int]]) -> Setting:
    used = set(taken)
    found: list[int] = []
    for role, avoid in zip(("batch", "first", "more", "memory", "capacity"), avoided, strict=True):
        start = found[1] + found[2] + 2 if role == "capacity" else 2
        number = next(n for n in count(start) if _is_free(n, role, found, used | avoid))
        found.append(number)
        used.add(number)
        if role == "more":
            used |= {found[1] + number, found[1] + number + 1}
    return Setting(*found)


def _is_free(number: int, role: str, found: list[int], used: set[int]) -> bool:
    numbers = {number}
    if role == "more":
        numbers |= {found[1] + number, found[1] + number + 1}
    return not numbers & used
