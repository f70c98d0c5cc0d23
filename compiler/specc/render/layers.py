"""How the model makes a stack's layers: one comprehension, or a list of kinds with a function that
makes one of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specc.ir.attention import Attention
from specc.ir.block import LayerType, Segment, Stack
from specc.ir.sizes import Size, Width
from specc.ir.views import view_of, views
from specc.render.code import Scope
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

    @property
    def alike(self) -> bool:
        """Whether all layers are made alike."""
        return len({self.construct(layer) for layer in self.stack.layer_types}) == 1

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
        if self.is_uniform:
            return f"{made} for _ in range(config.{self.stack.segments[0].n_layers.name})"
        if self.alike:
            return f"{made} for _ in self.{self.kinds}"
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

    def view_line(self, variables: list[str]) -> str:
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
        return f"view = {value}"

    def new_cache(self, like: str) -> list[str]:
        """The body of `new_cache`: one room for all layers, or one for each kind."""
        shapes = {layer: _room(layer) for layer in self.stack.layer_types}
        distinct = list(dict.fromkeys(shapes.values()))
        scope = Scope("self.config")
        text = CacheText(
            like,
            self.stack.layers_name,
            self.kinds,
            _shape(distinct[0], scope),
            cases(list(shapes), lambda layer: _shape(shapes[layer], scope)),
            _shape(shapes[self.stack.layer_types[-1]], scope),
        )
        template = "model/one_room" if len(distinct) == 1 else "model/room_by_kind"
        return list(lines(template, "forward", text))


@dataclass(frozen=True)
class CacheText:
    """What the templates of `new_cache` print."""

    like: str
    layers_name: str
    kinds: str
    shape: str
    cases: list[Case]
    last: str


def cases(layers: list[LayerType], value: Construct) -> list[Case]:
    """All but the last, which the chain's `else` takes."""
    return [
        Case("elif" if i else "if", layer.name, value(layer)) for i, layer in enumerate(layers[:-1])
    ]


def _room(layer: LayerType) -> tuple[Size, Size]:
    for sublayer in layer.block.sublayers:
        if isinstance(sublayer.body, Attention) and sublayer.body.cached:
            return sublayer.body.n_kv_heads, sublayer.body.head_dim
    raise TypeError(f"layer {layer.name} keeps nothing")


def _shape(room: tuple[Size, Size], scope: Scope) -> str:
    heads, head_dim = (scope.width(Width(((size,),))) for size in room)
    return f"(batch, {heads}, capacity, {head_dim})"
