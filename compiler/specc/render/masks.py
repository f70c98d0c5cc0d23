"""The lines that make a stack's masks: one mask for each way in which its layers look."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.attention import Chunk, Reach, Window
from specc.ir.block import Stack
from specc.ir.exhaustive import assert_never
from specc.ir.positions import Alibi
from specc.ir.views import View, view_of, views
from specc.render.views import ViewText


@dataclass(frozen=True)
class Look:
    """What two views must share to share a mask."""

    causal: bool
    reach: Reach | None
    alibi: Alibi | None

    @property
    def is_plain(self) -> bool:
        return self.reach is None and self.alibi is None


@dataclass(frozen=True)
class Masks:
    """The masks of one stack, by how layers look; `tokens` and `mask` are names in the method."""

    stack: Stack
    text: ViewText
    cached: bool
    tokens: str
    mask: str
    length: str
    visible: str  # the function that makes a plain mask

    @property
    def _looks(self) -> dict[Look, str]:
        """Each look with the variable of its mask."""
        found: dict[Look, str] = {}
        own = views(self.stack)
        for layer in self.stack.layer_types:
            view = own[view_of(self.stack, layer) or 0]
            found.setdefault(look(view), f"{layer.name}_mask")
        if len(found) == 1:
            return dict.fromkeys(found, "mask")
        told_apart = self.text.type_name is None  # the loop chooses among them by name
        return {
            key: "mask" if key.is_plain and not told_apart else name for key, name in found.items()
        }

    def variable(self, view: View) -> str:
        """The mask that a view holds."""
        return self._looks[look(view)]

    def is_flagged(self, view: View) -> bool:
        """Whether SDPA's causal flag stands beside the view's mask."""
        return view.causal and look(view).is_plain and self.text.flag and self.cached

    def lines(self) -> list[str]:
        """The lines that make them all."""
        return [line for key, name in self._looks.items() for line in self._lines(key, name)]

    def _lines(self, key: Look, name: str) -> list[str]:
        if key.alibi is not None:
            bias = f"self.{key.alibi.name}({self._span}, {self.mask})"
            if key.reach is None:
                return [f"{name} = {bias}"]
            near = self._reach(key.reach, key.causal)
            reached = f"{bias}[..., -near.size(-1) :]" if self.cached else bias
            return [f"near = {near}", f'{name} = {reached}.masked_fill(~near, float("-inf"))']
        if key.reach is not None:
            return [f"{name} = {self._reach(key.reach, key.causal)}"]
        if key.causal and self.text.flag and self.cached:
            arguments = f"{self._span}, {self.mask}, {self.tokens}.device"
            return [f"{name}, is_causal = {self.visible}({arguments})"]
        square = f"[B, 1, {self.length}, {self.length}]"
        return [f"{name} = {self.visible}({self.mask})  # {square}"]

    @property
    def _span(self) -> str:
        return "start, end" if self.cached else f"{self.tokens}.size(1)"

    def _reach(self, reach: Reach, causal: bool) -> str:
        """The call that makes the mask of a window or of chunks."""
        rest = f"{self.mask}, {self.tokens}.device"
        match reach:
            case Window(size):
                function = "visible_window" if causal else "visible_both_sides"
                return f"{function}({self._span}, self.config.{size.name}, {rest})"
            case Chunk(size):
                return f"visible_chunk({self._span}, self.config.{size.name}, {rest})"
            case _:
                assert_never(reach)


def look(view: View) -> Look:
    """How layers of that view look."""
    return Look(view.causal, view.reach, view.alibi)
