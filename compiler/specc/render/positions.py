"""The modules that know about places: tables of sines, of turns and of slopes, and the learned
table's line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specc.ir.attention import LatentAttention, PositionTemperature
from specc.ir.block import Stack
from specc.ir.model import Model
from specc.ir.positions import (
    Alibi,
    DynamicScaling,
    LearnedPosition,
    LinearScaling,
    Llama3Scaling,
    LongRopeScaling,
    PositionIndex,
    ProportionalScaling,
    Rotary,
    RotaryLayout,
    RotaryScaling,
    Sinusoidal,
    SinusoidFrequency,
    SinusoidLayout,
    YarnScaling,
)
from specc.ir.sizes import Constant, Number, Size
from specc.ir.walk import walk
from specc.render.classes import ClassTable, PartClass, Role
from specc.render.code import Scope, moving
from specc.render.engine import lines, section
from specc.render.names import follows_length
from specc.render.views import ViewText

SCALINGS: dict[type[RotaryScaling], str] = {
    LinearScaling: "positions/linear_scaling",
    Llama3Scaling: "positions/llama3_scaling",
    YarnScaling: "positions/yarn_scaling",
    ProportionalScaling: "positions/proportional_scaling",
    DynamicScaling: "positions/dynamic_scaling",
    LongRopeScaling: "positions/longrope_scaling",
}


TABLES: dict[type, str] = {
    DynamicScaling: "positions/rotary_dynamic",
    LongRopeScaling: "positions/rotary_longrope",
}


@dataclass(frozen=True)
class Unplaced:
    """A rotary table without its attribute name, so that equal tables share a class."""

    size: Size
    width: Size  # of the features that are paired
    turned: Size  # of those that turn
    theta: Constant
    scaling: RotaryScaling | None


@dataclass(frozen=True)
class ScalingText:
    """What the template of one scaling prints."""

    scaling: RotaryScaling
    turned: Size
    letter: str
    scope: Scope

    def number(self, number: Number) -> str:
        return self.scope.number(number)


class PositionTable:
    """The position classes of one file, and how the model constructs each of its tables."""

    def __init__(self, model: Model, alibi_view: ViewText | None) -> None:
        parts = list(dict.fromkeys(walk(model.stacks)))
        self._alibi_view = alibi_view
        self.sliced = looks_up_slices(model.stacks)  # what unpadded tokens take of the tables
        self._rotaries = [p for p in parts if isinstance(p, Rotary)]
        self._sinusoids = [p for p in parts if isinstance(p, Sinusoidal)]
        self._alibis = [p for p in parts if isinstance(p, Alibi)]
        self._learned = [p for p in parts if isinstance(p, LearnedPosition)]
        self._rotary_classes = ClassTable("RotaryTable", [_role(r) for r in self._rotaries])
        self._sinusoid_classes = ClassTable("SinusoidalTable", [_plain(s) for s in self._sinusoids])

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes whose `reset_parameters` the model calls."""
        found = [c.name for c in self._sinusoid_classes.classes]
        found += [
            c.name
            for c in self._rotary_classes.classes
            if not isinstance(c.part.scaling, DynamicScaling)
        ]
        return (*found, "Alibi") if self._alibis else tuple(found)

    def constructions(self) -> dict[str, str]:
        """The code that makes each table, by its attribute name."""
        scope = Scope()
        found = {r.name: self._rotary_classes.call(_role(r)).code(scope) for r in self._rotaries}
        for s in self._sinusoids:
            found[s.name] = self._sinusoid_classes.call(_plain(s)).code(scope)
        for learned in self._learned:
            size = scope.number(learned.size)
            rows = f"{size} + {learned.offset}" if learned.offset else size
            found[learned.name] = f"nn.Embedding({rows}, {scope.number(learned.width)})"
        found.update({a.name: "Alibi(config)" for a in self._alibis})
        return found

    def sections(self) -> tuple[str, ...]:
        """The text of the classes."""
        padded = _counts_real(self._sinusoids)
        found = [_sinusoidal_section(c, padded) for c in self._sinusoid_classes.classes]
        found += [self._rotary_section(c) for c in self._rotary_classes.classes]
        if self._alibis and self._alibi_view is not None:
            found.append(_alibi_section(self._alibis[0], self._alibi_view))
        return tuple(found)

    def _rotary_section(self, cls: PartClass[Unplaced]) -> str:
        part, scope = cls.part, cls.scope
        letter = str(cls.roles[0].context)
        padded = _counts_real(self._rotaries)
        init = [f"self.theta = {scope.number(part.theta)}"]
        scaling: Sequence[str] = ()
        if part.scaling is not None:
            text = ScalingText(part.scaling, part.turned, letter, scope)
            init += lines(SCALINGS[type(part.scaling)], "init", text)
            scaling = lines(SCALINGS[type(part.scaling)], "forward", text)
        return section(
            TABLES.get(type(part.scaling), "positions/rotary"),
            gain=" * self.attention_factor" if isinstance(part.scaling, YarnScaling) else "",
            name=cls.name,
            letter=letter,
            padded=padded,
            sliced=self.sliced,
            place=self._place(padded),
            move=self._move(letter, padded),
            init_parameters=("self", "config: Config", *cls.parameters),
            init=init,
            size=scope.number(part.size),
            width=scope.number(part.width),
            scaling=scaling,
        )

    def _place(self, padded: bool) -> str:
        """The type of a table's positions."""
        if not self.sliced:
            return "Tensor"
        return "Tensor | slice" if padded else "slice"

    def _move(self, letter: str, padded: bool) -> str:
        """What a look-up is given and gives."""
        given = ["T rows" if self.sliced else "[T]", *["[B, T]"] * padded]
        found = [f"2 x [T, {letter}/2]", *[f"2 x [B, 1, T, {letter}/2]"] * padded]
        return f"{' or '.join(given)} -> {' or '.join(found)}"


def looks_up_slices(stacks: tuple[Stack, ...]) -> bool:
    """Whether unpadded positions are rows of rotary tables only, of which a slice is no copy."""
    parts = list(walk(stacks))
    counted = (Sinusoidal, LearnedPosition, PositionTemperature)
    return not any(
        isinstance(part, counted) or (isinstance(part, Rotary) and follows_length(part))
        for part in parts
    )


def turns_shape(model: Model) -> str:
    """What a view holds for rotary positions."""
    parts = [p for p in walk(model.stacks) if isinstance(p, Rotary)]
    letters = list(dict.fromkeys(_letter(p) for p in parts))
    plain = [f"[T, {letter}/2]" for letter in letters]
    padded = [f"[B, 1, T, {letter}/2]" for letter in letters]
    return " or ".join(plain + padded if _counts_real(parts) else plain)


def _letter(rotary: Rotary) -> str:
    """The features that turn: R where heads turn only in part."""
    return "R" if rotary.is_partial else rotary.head_dim.letter


def _counts_real(parts: Sequence[Rotary | Sinusoidal]) -> bool:
    """Whether padding moves positions, so that each row of a batch has its own."""
    return any(part.index is PositionIndex.MASK for part in parts)


class Turns:
    """The functions of a file that turn heads, or the first or last features of them."""

    def __init__(self, model: Model) -> None:
        parts = [p for p in walk(model.stacks) if isinstance(p, Rotary)]
        self._parts = list(dict.fromkeys(parts))
        latent = [p for p in walk(model.stacks) if isinstance(p, LatentAttention)]
        self._of_shared_keys = {p.layout for a in latent for p in walk(a) if isinstance(p, Rotary)}
        self._layouts = list(dict.fromkeys(p.layout for p in parts))

    def function(self, rotary: Rotary) -> str:
        """The function that turns a head of that rotary position."""
        if not rotary.is_partial:
            return self._base(rotary.layout)
        return f"{self._base(rotary.layout)}_{rotary.slice.value}"

    def _base(self, layout: RotaryLayout) -> str:
        return "rotate" if len(self._layouts) == 1 else f"rotate_{layout.value}"

    def sections(self) -> list[str]:
        """Their text: those for whole heads first, which the others call."""
        found = [self._section(layout) for layout in self._layouts]
        parts = {self.function(p): p for p in self._parts if p.is_partial}
        return found + [
            section(f"helpers/rotate_{p.slice.value}", name=name, whole=self._base(p.layout))
            for name, p in parts.items()
        ]

    def _section(self, layout: RotaryLayout) -> str:
        letters = list(dict.fromkeys(_letter(p) for p in self._parts if p.layout is layout))
        turned = [f"[B, H, T, {letter}{{}}]" for letter in letters]
        turned += ["[B, 1, T, R{}]"] * (layout in self._of_shared_keys)
        whole = " or ".join(shape.format("") for shape in turned)
        half = f"{letters[0]}/2" if len(letters) == 1 else "half"
        pair = f"feature {'i' if layout is RotaryLayout.HALF else '2i'} together with feature"
        other = f"i + {half}" if layout is RotaryLayout.HALF else "2i + 1"
        heads = ", in all heads or in one for all" if layout in self._of_shared_keys else ""
        return section(
            f"helpers/rotate_{layout.value}",
            name=self._base(layout),
            doc=moving(f"Turn {pair} {other}{heads}", f"{whole} -> {whole}"),
            halves=" or ".join(f"2 x {shape.format('/2')}" for shape in turned),
        )


def _role(rotary: Rotary) -> Role[Unplaced]:
    proportional = isinstance(rotary.scaling, ProportionalScaling)
    width = rotary.head_dim if proportional else rotary.rotary_dim
    part = Unplaced(rotary.size, width, rotary.rotary_dim, rotary.theta, rotary.scaling)
    return Role(part, "", rotary.name.removeprefix("rotary").strip("_"), _letter(rotary))


def _plain(table: Sinusoidal) -> Role[tuple[object, ...]]:
    part = (table.size, table.width, table.layout, table.frequency)
    return Role(part, "", table.name.removesuffix("position").strip("_"), table.width.letter)


def _sinusoidal_section(cls: PartClass[tuple[object, ...]], padded: bool) -> str:
    size, width, layout, frequency = cls.part
    if not isinstance(size, Size) or not isinstance(width, Size):
        raise TypeError("a sinusoidal table without sizes")
    interleaved = layout is SinusoidLayout.INTERLEAVED
    by_half = frequency is SinusoidFrequency.K_OVER_HALF_MINUS_ONE
    exponent = "pair / (width // 2 - 1)" if by_half else "2 * pair / width"
    letter = width.letter
    return section(
        "positions/sinusoidal",
        name=cls.name,
        exponent=f"k / ({letter}/2 - 1)" if by_half else f"2k / {letter}",
        init_parameters=("self", "config: Config", *cls.parameters),
        size=cls.scope.number(size),
        width=cls.scope.number(width),
        frequency=f"10_000.0 ** -({exponent})",
        sines="0::2" if interleaved else ": (width + 1) // 2",
        cosines="1::2" if interleaved else "(width + 1) // 2 :",
        order="in turn" if interleaved else "sines first",
        move=(
            f"[T] or [B, T] -> [T, {letter}] or [B, T, {letter}]"
            if padded
            else f"[T] -> [T, {letter}]"
        ),
    )


def _alibi_section(part: Alibi, view: ViewText) -> str:
    scope = Scope()
    way = "cached" if view.cached else "causal" if view.causal else "both_ways"
    return section(
        "positions/alibi",
        init_parameters=("self", "config: Config"),
        n_heads=scope.number(part.n_heads),
        forward=lines(f"positions/alibi_{way}", "forward", part),
    )
