"""How the model makes a stack's layers: one comprehension, or a list of kinds with a function that
makes one of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specc.ir.attention import Attention, AttentionSource, LatentAttention, kept_window
from specc.ir.block import LayerType, Segment, Stack
from specc.ir.model import Model
from specc.ir.sizes import Size, Width
from specc.ir.views import self_attention, view_of, views
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

        def variable(layer: LayerType) -> str:
            return variables[view_of(self.stack, layer) or 0]

        return f"{name} = {self._by_kind(f'self.{self.kinds}[i]', variable)}"

    def _by_kind(self, kind: str, value: Construct) -> str:
        """The value that goes with a layer's kind, which the code `kind` gives."""
        by_value: dict[str, list[str]] = {}
        for layer in self.stack.layer_types:
            by_value.setdefault(value(layer), []).append(f'"{layer.name}"')
        *chosen, found = by_value
        for other in reversed(chosen):
            names = by_value[other]
            test = f"== {names[0]}" if len(names) == 1 else f"in ({', '.join(names)})"
            found = f"{other} if {kind} {test} else {found}"
        return found

    def new_cache(self, like: str) -> list[str]:
        """The body of `new_cache`: one room for all layers, or one for each kind."""
        types, scope = list(self.stack.layer_types), Scope("self.config")
        kept = {layer: _kept(layer) for layer in types}
        rooms = {layer: _room(layer, scope) for layer in types}
        room = self._by_kind("kind", lambda layer: rooms[layer])
        shapes = {
            layer: _shapes(kept[layer], "capacity" if room == "capacity" else "room", scope)
            for layer in types
        }
        text = CacheText(
            like,
            self.stack.layers_name,
            self.kinds,
            None if room == "capacity" else room,
            list(dict.fromkeys(shapes[types[0]])),
            len(set(kept.values())) == 1,
            cases(types, lambda layer: ", ".join(shapes[layer])),
            ", ".join(shapes[types[-1]]),
        )
        is_one = text.alike and len(set(rooms.values())) == 1
        return list(lines("model/one_room" if is_one else "model/room_by_kind", "forward", text))


@dataclass(frozen=True)
class CacheText:
    """What the templates of `new_cache` print."""

    like: str
    layers_name: str
    kinds: str
    room: str | None  # of a layer, where that is not the capacity for all
    shapes: list[str]  # of the first layer's keys and values, or one for both
    alike: bool  # whether all layers keep the same of a token
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


def _keeper(layer: LayerType) -> Attention | LatentAttention:
    """The attention of a layer that a cache keeps the tokens of."""
    own = self_attention(layer.block)
    if own is None or not own.cached:
        raise TypeError(f"layer {layer.name} keeps nothing")
    return own


def _kept(layer: LayerType) -> tuple[Width, Width]:
    """What a layer keeps of each token: heads times features of keys, and of values."""
    own = _keeper(layer)
    if isinstance(own, LatentAttention):
        return Width(((1, own.kv_rank),)), Width(((1, own.rotary_dim),))
    kept = Width(((own.n_kv_heads, own.head_dim),))
    return kept, kept


def _room(layer: LayerType, scope: Scope) -> str:
    """How many tokens a layer keeps: of a window all but the newest, which comes with the call."""
    window = kept_window(_keeper(layer))
    return "capacity" if window is None else f"min({scope.number(window)} - 1, capacity)"


def _shapes(kept: tuple[Width, Width], room: str, scope: Scope) -> list[str]:
    """The shapes of one layer's keys and values."""
    return [_shape(width, room, scope) for width in kept]


def _shape(kept: Width, room: str, scope: Scope) -> str:
    heads, features = (
        scope.number(factor) if isinstance(factor, Size) else str(factor)
        for factor in kept.terms[0]
    )
    return f"(batch, {heads}, {room}, {features})"


def cache_section(model: Model) -> str:
    """The classes of the cache, with the shapes of what this model's layers keep."""
    parts = [p for p in walk(model.stacks) if isinstance(p, Attention | LatentAttention)]
    own = [p for p in parts if p.cached and not _is_of_memory(p)]
    near = [p for p in own if kept_window(p) is not None]
    room, reached = ("room", "P") if near else ("capacity", "S")
    move = f"{_pairs(own, 'T')} -> {_pairs(own, reached)}"
    what = "tokens, return all in reach" if near else "new tokens, return all so far"
    return section(
        "model/cache",
        keys=_either(own, room, "L"),
        values=_either(own, room, "R"),
        memory=any(p.cached and _is_of_memory(p) for p in parts),
        windowed=bool(near),
        near_keys=_either(near, reached, "L"),
        near_values=_either(near, reached, "R"),
        doc=moving(f"Store {what}", move, 8),
    )


def _is_of_memory(part: Attention | LatentAttention) -> bool:
    return isinstance(part, Attention) and part.source is AttentionSource.MEMORY


def _heads(parts: list[Attention | LatentAttention]) -> list[str]:
    """The letters of their key heads."""
    plain = [p for p in parts if isinstance(p, Attention)]
    return sorted({"K" if p.is_grouped else "H" for p in plain})


def _has_latents(parts: list[Attention | LatentAttention]) -> bool:
    return any(isinstance(p, LatentAttention) for p in parts)


def _either(parts: list[Attention | LatentAttention], length: str, width: str) -> str:
    """The shapes of the keys, or of the values, of so many tokens; a latent's have that width."""
    found = [f"[B, {letter}, {length}, E]" for letter in _heads(parts)]
    return " or ".join(found + [f"[B, 1, {length}, {width}]"] * _has_latents(parts))


def _pairs(parts: list[Attention | LatentAttention], length: str) -> str:
    """The shapes of keys and values together."""
    found = [f"2 x [B, {letter}, {length}, E]" for letter in _heads(parts)]
    latent = f"[B, 1, {length}, L], [B, 1, {length}, R]"
    return " or ".join(found + [latent] * _has_latents(parts))
