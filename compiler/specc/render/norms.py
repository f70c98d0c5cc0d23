"""Norms: torch's own LayerNorm where it says what the spec says, else one small class for each
variant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from specc.ir.exhaustive import assert_never
from specc.ir.layers import Cast, LayerNorm, Norm, NormWeight, RmsNorm
from specc.render.code import Scope
from specc.render.engine import section


class Native(Enum):
    """The norms that torch brings along."""

    LAYER = "nn.LayerNorm"


@dataclass(frozen=True)
class Variant:
    """What makes one norm class differ from another."""

    kind: type[LayerNorm | RmsNorm]
    weight: NormWeight
    bias: bool
    cast: Cast | None
    per_head: bool


PREFIX = {NormWeight.PLAIN: "", NormWeight.ONE_PLUS: "ZeroCentered", NormWeight.NONE: "Unweighted"}


def variant(norm: Norm) -> Variant | Native:
    """The class that the norm needs."""
    match norm:
        case LayerNorm():
            per_head = norm.heads is not None and (norm.bias or _has_gain(norm))
            odd = (
                norm.weight is NormWeight.ONE_PLUS
                or per_head
                or (norm.bias and norm.weight is NormWeight.NONE)
            )
            return (
                Variant(LayerNorm, norm.weight, norm.bias, None, per_head) if odd else Native.LAYER
            )
        case RmsNorm():
            cast = Cast.AFTER_WEIGHT if norm.weight is NormWeight.NONE else norm.cast
            return Variant(
                RmsNorm, norm.weight, False, cast, norm.heads is not None and _has_gain(norm)
            )
        case _:
            assert_never(norm)


def _has_gain(norm: Norm) -> bool:
    return norm.weight is not NormWeight.NONE


class NormTable:
    """The norm classes of one file."""

    def __init__(self, norms: Iterable[Norm]) -> None:
        found = list(dict.fromkeys(variant(norm) for norm in norms))
        self.uses_layer_norm = Native.LAYER in found
        self.variants = [v for v in found if isinstance(v, Variant)]
        self._names = {v: _name(v, self.variants) for v in self.variants}

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes whose `reset_parameters` the model calls."""
        native = ("nn.LayerNorm",) if self.uses_layer_norm else ()
        weighted = [v for v in self.variants if v.weight is not NormWeight.NONE or v.bias]
        return native + tuple(self._names[v] for v in weighted)

    def sections(self) -> tuple[str, ...]:
        """The text of the classes."""
        return tuple(self._section(v) for v in self.variants)

    def code(self, norm: Norm, scope: Scope) -> str:
        """`RMSNorm(config.d_model, config.norm_eps)`."""
        width, eps = scope.width(norm.width), scope.number(norm.eps)
        found = variant(norm)
        if isinstance(found, Variant):
            sizes = [width, eps] if found.weight is not NormWeight.NONE or found.bias else [eps]
            if found.per_head and norm.heads is not None:
                sizes.insert(0, scope.number(norm.heads))
            return f"{self._names[found]}({', '.join(sizes)})"
        if norm.weight is NormWeight.NONE:
            return f"nn.LayerNorm({width}, eps={eps}, elementwise_affine=False)"
        bias = "" if isinstance(norm, LayerNorm) and norm.bias else ", bias=False"
        return f"nn.LayerNorm({width}, eps={eps}{bias})"

    def _section(self, v: Variant) -> str:
        template = "norms/rms_norm" if v.kind is RmsNorm else "norms/layer_norm"
        return section(
            template,
            name=self._names[v],
            sizes="heads: int, width: int" if v.per_head else "width: int",
            shape="heads, width" if v.per_head else "width",
            weighted=v.weight is not NormWeight.NONE,
            start="zeros" if v.weight is NormWeight.ONE_PLUS else "ones",
            bias=v.bias,
            label=_label(v),
            result=_rms_result(v) if v.kind is RmsNorm else _layer_result(v),
        )


def _label(v: Variant) -> str:
    if v.kind is RmsNorm:
        return "(1 + weight)" if v.weight is NormWeight.ONE_PLUS else "weight"
    gain = {
        NormWeight.PLAIN: " * weight",
        NormWeight.ONE_PLUS: " * (1 + weight)",
        NormWeight.NONE: "",
    }
    return f"(x - mean) / std{gain[v.weight]}" + (" + bias" if v.bias else "")


def _rms_result(v: Variant) -> tuple[str, ...]:
    """The product with the gain, its cast before or after, as the spec orders."""
    one_plus = v.weight is NormWeight.ONE_PLUS
    if v.cast is Cast.AFTER_WEIGHT:
        gain = f"(1 + {_tensor(v, 'weight')}.to(wide.dtype))" if one_plus else _tensor(v, "weight")
        return (
            "# The gain is applied before the cast back.",
            f"return ({gain} * normed).to(x.dtype)",
        )
    weight = _tensor(v, "weight")
    return (f"return {f'(1 + {weight})' if one_plus else weight} * normed.to(x.dtype)",)


def _tensor(v: Variant, name: str) -> str:
    """A gain or shift, each head's own against all of its places."""
    return f"self.{name}[:, None]" if v.per_head else f"self.{name}"


def _layer_result(v: Variant) -> str:
    wide = f"{_tensor(v, 'weight')}.to(wide.dtype)"
    gain = {
        NormWeight.PLAIN: f" * {wide}",
        NormWeight.ONE_PLUS: f" * (1 + {_tensor(v, 'weight')}).to(wide.dtype)",
        NormWeight.NONE: "",
    }
    return "normed" + gain[v.weight] + (f" + {_tensor(v, 'bias')}.to(wide.dtype)" if v.bias else "")


def _name(v: Variant, others: list[Variant]) -> str:
    base = "RMSNorm" if v.kind is RmsNorm else "LayerNorm"
    rivals = [o for o in others if o.kind is v.kind and o != v]
    if not rivals:
        return base
    apart = "PerHead" if v.per_head else ""
    alike = [o for o in rivals if o.weight is v.weight]
    cast = _CAST[v.cast] if any(o.cast is not v.cast for o in alike) else ""
    bias = "BiasFree" if not v.bias and any(o.bias for o in alike) else ""
    return f"{apart}{PREFIX[v.weight]}{cast}{bias}{base}"


_CAST = {Cast.BEFORE_WEIGHT: "CastFirst", Cast.AFTER_WEIGHT: "CastLast", None: ""}
