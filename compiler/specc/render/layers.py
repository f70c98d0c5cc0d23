"""How the model makes a stack's layers: one comprehension, or a list of kinds with a function that
makes one of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specc.ir.attention import Attention, AttentionSource, LatentAttention
from specc.ir.block import LayerType, Segment, Stack
from specc.ir.model import Model
from specc.ir.sizes import Size, Width
from specc.ir.views import view_of, views
from specc.ir.walk import walk
from specc.render.code import Scope, moving
from specc.render.engine import lines, section

Construct = Callable[[LayerType], str]


@dataclass(frozen=True)
class Case:
    """One kind of layer in a chain of ifs."""

    keyword: str
    name: str
    value: str


@dataclass(frozen=True)
class Pattern:
    """The layers of one stack, kind by kind. `prefix` tells stacks apart: "" or "encoder"."""

    stack: Stack
    prefix: str
    construct: Construct
    classes: tuple[str, ...]
    counted: bool  # whether a layer is told its number

    @property
    def alike(self) -> bool:
        """Whether all layers are made alike."""
        made = {self.construct(layer) for layer in self.stack.layer_types}
        return len(made) == 1 and not (self.counted and len(self.stack.layer_types) > 1)

    @property
    def is_uniform(self) -> bool:
        """Whether all layers are made and used alike."""
        return self.alike and len(views(self.stack)) <= 1 and len(self.stack.segments) == 1

    @property
    def kinds(self) -> str:
        """The attribute of the model that lists the layers' kinds."""
        return f"{self.prefix}_kinds".strip("_")

    @property
    def function(self) -> str:
        """The function that lists them."""
        return f"{self.prefix}_layer_kinds".strip("_")

    @property
    def maker(self) -> str:
        """The function that makes a layer."""
        return f"make_{self.prefix}_layer".replace("__", "_")

    @property
    def code(self) -> str:
        """What stands inside `nn.ModuleList(...)`."""
        made = self.construct(self.stack.layer_types[0])
        count = f"config.{self.stack.segments[0].n_layers.name}"
        if self.is_uniform and self.counted:
            return f"{made} for layer in range(1, {count} + 1)"
        if self.is_uniform:
            return f"{made} for _ in range({count})"
        if self.alike:
            return f"{made} for _ in self.{self.kinds}"
        if self.counted:
            return f"{self.maker}(kind, config, i + 1) for i, kind in enumerate(self.{self.kinds})"
        return f"{self.maker}(kind, config) for kind in self.{self.kinds}"

    def init(self) -> list[str]:
        """What the model keeps of the pattern."""
        return [] if self.is_uniform else [f"self.{self.kinds} = {self.function}(config)"]

    def sections(self) -> list[str]:
        """The functions of a pattern."""
        if self.is_uniform:
            return []
        found = [section("model/kinds", function=self.function, body=self._kinds())]
        if not self.alike:
            types = list(self.stack.layer_types)
            found.append(
                section(
                    "model/make_layer",
                    function=self.maker,
                    classes=self.classes,
                    counted=self.counted,
                    cases=cases(types, self.construct),
                    last=self.construct(types[-1]),
                )
            )
        return found

    def _kinds(self) -> list[str]:
        found: list[str] = []
        terms = [self._kinds_of(segment, found) for segment in self.stack.segments]
        return [*found, f"return {' + '.join(terms)}"]

    def _kinds_of(self, segment: Segment, found: list[str]) -> str:
        """The kinds of one segment; a cycle gets a line of its own."""
        names = [f'"{self.stack.layer_types[kind].name}"' for kind in segment.cycle]
        count = f"config.{segment.n_layers.name}"
        if len(names) == 1:
            return f"[{names[0]}] * {count}"
        variable = f"cycle_{len(found) + 1}" if found else "cycle"
        found.append(f"{variable} = ({', '.join(names)})")
        return f"[{variable}[i % len({variable})] for i in range({count})]"

    def view_line(self, name: str, variables: list[str]) -> str:
        """The choice of a layer's view by its kind; `variables` name the views in order."""
        by_view: dict[int, list[str]] = {}
        for layer in self.stack.layer_types:
            by_view.setdefault(view_of(self.stack, layer) or 0, []).append(f'"{layer.name}"')
        *chosen, last = by_view
        value = variables[last]
        for view in reversed(chosen):
            names = by_view[view]
            test = f"== {names[0]}" if len(names) == 1 else f"in ({', '.join(names)})"
            value = f"{variables[view]} if self.{self.kinds}[i] {test} else {value}"
        return f"{name} = {value}"

    def new_cache(self, like: str) -> list[str]:
        """The body of `new_cache`: one room for all layers, or one for each kind."""
        rooms = {layer: _room(layer) for layer in self.stack.layer_types}
        distinct = list(dict.fromkeys(rooms.values()))
        scope = Scope("self.config")
        types = list(self.stack.layer_types)
        text = CacheText(
            like,
            self.stack.layers_name,
            self.kinds,
            _shapes(distinct[0], scope),
            cases(types, lambda layer: _both(rooms[layer], scope)),
            _both(rooms[types[-1]], scope),
        )
        template = "model/one_room" if len(distinct) == 1 else "model/room_by_kind"
        return list(lines(template, "forward", text))


@dataclass(frozen=True)
class CacheText:
    """What the templates of `new_cache` print."""

    like: str
    layers_name: str
    kinds: str
    shapes: list[str]  # of keys and values, or one for both
    cases: list[Case]
    last: str

    @property
    def apart(self) -> bool:
        return len(self.shapes) > 1


def cases(layers: list[LayerType], value: Construct) -> list[Case]:
    """All but the last, which the chain's `else` takes."""
    return [
        Case("elif" if i else "if", layer.name, value(layer)) for i, layer in enumerate(layers[:-1])
    ]


def _room(layer: LayerType) -> tuple[Width, Width]:
    """What a layer keeps of each token: heads times features of keys, and of values."""
    for sublayer in layer.block.sublayers:
        body = sublayer.body
        if isinstance(body, Attention) and body.cached and body.source is AttentionSource.SELF:
            kept = Width(((body.n_kv_heads, body.head_dim),))
            return kept, kept
        if isinstance(body, LatentAttention) and body.cached:
            return Width(((1, body.kv_rank),)), Width(((1, body.rotary_dim),))
    raise TypeError(f"layer {layer.name} keeps nothing")


def _shapes(room: tuple[Width, Width], scope: Scope) -> list[str]:
    """The shapes of one layer's keys and values; one where they are equal."""
    return [_shape(width, scope) for width in dict.fromkeys(room)]


def _both(room: tuple[Width, Width], scope: Scope) -> str:
    """The shapes of one layer's keys and values, as code for two names."""
    return ", ".join(_shape(width, scope) for width in room)


def _shape(kept: Width, scope: Scope) -> str:
    heads, features = (
        scope.number(factor) if isinstance(factor, Size) else str(factor)
        for factor in kept.terms[0]
    )
    return f"(batch, {heads}, capacity, {features})"


def cache_section(model: Model) -> str:
    """The classes of the cache, with the shapes of what this model's layers keep."""
    parts = list(walk(model.stacks))
    kept = [p for p in parts if isinstance(p, Attention) and p.cached]
    plain = [p for p in kept if p.source is AttentionSource.SELF]
    latent = any(isinstance(p, LatentAttention) and p.cached for p in parts)
    letters = sorted({"K" if p.is_grouped else "H" for p in plain})
    shapes = [f"[B, {letter}, {{}}, E]" for letter in letters]
    keys, values = shapes + ["[B, 1, {}, L]"] * latent, shapes + ["[B, 1, {}, R]"] * latent
    pairs = [f"2 x {shape}" for shape in shapes] + ["[B, 1, {}, L], [B, 1, {}, R]"] * latent
    new, all_ = (" or ".join(pair.replace("{}", letter) for pair in pairs) for letter in "TS")
    return section(
        "model/cache",
        keys=" or ".join(shape.format("capacity") for shape in keys),
        values=" or ".join(shape.format("capacity") for shape in values),
        memory=len(kept) > len(plain),
        doc=moving("Store new tokens, return all so far", f"{new} -> {all_}", indent=8),
    )
