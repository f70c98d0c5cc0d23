"""One tree over another: mappings merge, a changed `kind` replaces the node, lists replace, null
stays to remove. Every node keeps the mark it came with, so a merged tree still knows which line
set which value.
"""

from __future__ import annotations

from specc.spec.tree import Mapping, Node


def merge(base: Node | None, over: Node | None) -> Node | None:
    """`over` on top of `base`; either may be missing."""
    if over is None:
        return base
    if not isinstance(base, Mapping) or not isinstance(over, Mapping):
        return over
    return merge_mappings(base, over)


def merge_mappings(base: Mapping, over: Mapping) -> Mapping:
    """As `merge`, of two mappings; the result stands where `base` stands, kind unchanged."""
    if changes_kind(base, over):
        return over
    merged = base
    for entry in over.entries:
        value = merge(base.get(entry.key), entry.value)
        if value is not None:
            merged = merged.put(entry.key, value)
    return merged


def changes_kind(base: Mapping, over: Mapping) -> bool:
    """Do both name a kind, and not the same?"""
    before, after = base.word("kind"), over.word("kind")
    return before is not None and after is not None and before != after
