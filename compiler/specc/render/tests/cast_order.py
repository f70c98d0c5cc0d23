"""When a norm goes back to a narrow dtype, as the lines of a test that can tell."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.exhaustive import assert_never
from specc.ir.layers import Cast, NormWeight, RmsNorm


@dataclass(frozen=True)
class CastOrder:
    """The RMS norm at `path`."""

    path: str
    norm: RmsNorm

    @property
    def order(self) -> str:
        """In words."""
        return "before" if self.norm.cast is Cast.BEFORE_WEIGHT else "after"

    @property
    def wanted(self) -> str:
        """The norm's result from `normed`, `gain` and `x`."""
        one = "1 + " if self.norm.weight is NormWeight.ONE_PLUS else ""
        match self.norm.cast:
            case Cast.BEFORE_WEIGHT:
                gain = f"({one}gain)" if one else "gain"
                return f"{gain} * normed.bfloat16()"
            case Cast.AFTER_WEIGHT:
                gain = f"({one}gain.float())" if one else "gain.float()"
                return f"({gain} * normed).bfloat16()"
            case _:
                assert_never(self.norm.cast)

    @property
    def eps(self) -> str:
        """The number."""
        return repr(self.norm.eps.value)
