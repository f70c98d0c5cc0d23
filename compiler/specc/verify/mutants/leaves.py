"""Mistakes with the leaves: norms, linear maps, dropout, initial values."""

from __future__ import annotations

from dataclasses import replace

from specc.ir.attention import Attention
from specc.ir.feed_forward import Glu, Mlp
from specc.ir.init import (
    ZEROS,
    FanInUniform,
    Normal,
    StandardNormal,
    XavierUniform,
)
from specc.ir.layers import (
    Cast,
    Dropout,
    DropoutSite,
    LayerNorm,
    Linear,
    NormWeight,
    RmsNorm,
)
from specc.ir.sizes import Constant
from specc.verify.mutants.mutant import Mutant, choices, each, flipped, scaled, set_to

OTHER_STD = Normal(Constant("other_std", 0.5))


def _as_rms(norm: LayerNorm) -> RmsNorm:
    return RmsNorm(norm.name, norm.width, norm.eps, norm.weight, Cast.BEFORE_WEIGHT, norm.heads)


def _as_layer(norm: RmsNorm) -> LayerNorm:
    return LayerNorm(norm.name, norm.width, norm.eps, norm.weight, bias=False, heads=norm.heads)


LAYER_NORM = (
    scaled(LayerNorm, "eps", 10),
    *choices(LayerNorm, "weight", NormWeight),
    flipped(LayerNorm, "bias"),
    each("RMS norm in its place", LayerNorm, _as_rms),
)

RMS_NORM = (
    scaled(RmsNorm, "eps", 10),
    *choices(RmsNorm, "weight", NormWeight),
    *choices(RmsNorm, "cast", Cast),
    each("layer norm in its place", RmsNorm, _as_layer),
)


LINEAR = (
    flipped(Linear, "bias"),
    set_to(Linear, "init", XavierUniform()),
    set_to(Linear, "init", FanInUniform()),
    set_to(Linear, "init", OTHER_STD),
    set_to(Linear, "init", ZEROS),
)


def without(site: DropoutSite) -> Mutant:
    """No dropout at one site."""

    def attention(part: Attention) -> Attention:
        return replace(
            part,
            dropout=_kept(part.dropout, site),
            output_dropout=_kept(part.output_dropout, site),
        )

    def feed_forward(part: Mlp | Glu) -> Mlp | Glu:
        return replace(
            part,
            hidden_dropout=_kept(part.hidden_dropout, site),
            output_dropout=_kept(part.output_dropout, site),
        )

    name = f"none at {site.value}"
    if site in (DropoutSite.ATTENTION, DropoutSite.ATTENTION_OUT):
        return _renamed(each(name, Attention, attention))
    return _renamed(each(name, Mlp, feed_forward))


def _kept(part: Dropout | None, site: DropoutSite) -> Dropout | None:
    return None if part is not None and part.site is site else part


def _renamed(mutant: Mutant) -> Mutant:
    return replace(mutant, name=f"Dropout: {mutant.name.split(': ')[1]}")


def _moved(part: Mlp) -> Mlp:
    """Hidden dropout moves behind the second map."""
    hidden = part.hidden_dropout
    if hidden is None or part.output_dropout is not None:
        return part
    moved = Dropout("output_dropout", DropoutSite.FF_OUT, hidden.p)
    return replace(part, hidden_dropout=None, output_dropout=moved)


DROPOUT = (
    scaled(Dropout, "p", 2),
    *(without(site) for site in DropoutSite if site is not DropoutSite.EMBEDDING),
    _renamed(each("the hidden one behind the second map", Mlp, _moved)),
)

INITS: dict[str, tuple[Mutant, ...]] = {
    "Normal": (
        scaled(Normal, "std", 2),
        each("not scaled by depth", Normal, lambda init: replace(init, depth=None)),
        each("torch's default", Normal, lambda _: FanInUniform()),
        each("zeros", Normal, lambda _: ZEROS),
    ),
    "StandardNormal": (each("zeros", StandardNormal, lambda _: ZEROS),),
    "XavierUniform": (each("torch's default", XavierUniform, lambda _: FanInUniform()),),
    "FanInUniform": (each("Xavier", FanInUniform, lambda _: XavierUniform()),),
    "Fill": (
        replace(
            each("", Linear, lambda p: replace(p, init=FanInUniform()) if p.init == ZEROS else p),
            name="Fill: torch's default in place of zeros",
        ),
    ),
    "LogSqrt": (),  # the only scheme of a temperature; see the code mutants
}
