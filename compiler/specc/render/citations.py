"""The ledger's citations, each put once beside the first line that it justifies.

A template part names the schema paths it stands for (its anchors). A citation goes to the anchor
with the longest
path that contains it, wherever in the spec (base, stack, layer type) it was written. What finds no
anchor is not
lost: the header lists it.
"""

from __future__ import annotations

from collections.abc import Iterable

from specc.ir.model import Citation
from specc.render.code import comment, one_line

ANCHORS = (
    "attention",
    "attention.bias",
    "attention.projection",
    "attention.qk_norm",
    "attention.scale",
    "block",
    "cross_attention",
    "cross_attention.bias",
    "cross_attention.projection",
    "cross_attention.qk_norm",
    "cross_attention.scale",
    "dropout.attention",
    "dropout.attention_out",
    "dropout.embedding",
    "dropout.ff_hidden",
    "dropout.ff_out",
    "block.layer_scale",
    "block.residual_multiplier",
    "embedding.norm",
    "embedding.project",
    "embedding.width",
    "embedding.scale",
    "embedding.shared",
    "embedding.types",
    "feed_forward",
    "feed_forward.activation",
    "feed_forward.apply",
    "feed_forward.clamp",
    "feed_forward.groups",
    "feed_forward.renormalise",
    "feed_forward.score",
    "feed_forward.selection_bias",
    "feed_forward.shared",
    "final_norm",
    "head",
    "init",
    "layers",
    "norm",
    "position",
)


def base_path(path: str) -> str:
    """`decoder.attention.bias` and `layers.types.local.attention.bias` as `attention.bias`."""
    steps = path.split(".")
    if len(steps) > 1 and steps[0] in ("encoder", "decoder"):
        steps = steps[1:]
    if len(steps) > 3 and steps[:2] == ["layers", "types"]:
        steps = steps[3:]
    return ".".join(steps)


class Citations:
    """Hands out each citation once."""

    def __init__(self, citations: Iterable[Citation]) -> None:
        self._by_config: dict[str, list[Citation]] = {}
        self._by_anchor: dict[str, list[Citation]] = {}
        self._homeless: list[Citation] = []
        self._said: set[str] = set()
        for citation in citations:
            anchor = _anchor(base_path(citation.path))
            if citation.config_name is not None:
                self._by_config.setdefault(citation.config_name, []).append(citation)
            elif anchor is not None:
                self._by_anchor.setdefault(anchor, []).append(citation)
            else:
                self._homeless.append(citation)

    def at(self, *anchors: str) -> str:
        """Comment lines for these anchors, or an empty text. No text is said twice in one file."""
        found = [c for anchor in anchors for c in self._by_anchor.pop(anchor, [])]
        fresh = [c for c in found if c.text not in self._said]
        self._said.update(c.text for c in fresh)
        unique = dict.fromkeys(c.text for c in fresh)
        return "\n".join(f"# {line}" for text in unique for line in comment(text))

    def of_number(self, name: str) -> str:
        """What stands beside one field of `Config`, on one line."""
        found = dict.fromkeys(citation.text for citation in self._by_config.pop(name, []))
        return "; ".join(one_line(text) for text in found)

    def rest(self) -> tuple[Citation, ...]:
        """What has not been placed: read it last."""
        left = [
            c for group in (self._by_config, self._by_anchor) for cs in group.values() for c in cs
        ]
        return tuple(self._homeless + left)


def _anchor(path: str) -> str | None:
    fitting = [a for a in ANCHORS if path == a or path.startswith(f"{a}.")]
    return max(fitting, key=len, default=None)
