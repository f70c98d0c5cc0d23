"""How the model makes a stack's layers: one comprehension, or a pattern of kinds with a function
that walks it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specc.ir.attention import Attention
from specc.ir.block import LayerType, Stack
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
    def count(self) -> str:
        return self.stack.segments[0].n_layers.name

    @property
    def is_uniform(self) -> bool:
        """Whether all layers are made and used alike."""
        made = {self.construct(layer) for layer in self.stack.layer_types}
        return len(made) == 1 and len(views(self.stack)) <= 1

    @property
    def name(self) -> str:
        return f"{self.prefix}_pattern".strip("_").upper()

    @property
    def views_name(self) -> str:
        return f"{self.prefix}_views".strip("_").upper()

    @property
    def function(self) -> str:
        return f"{self.prefix}_layers".strip("_") if self.prefix else "pattern_layers"

    @property
    def code(self) -> str:
        """What stands inside `nn.ModuleList(...)`."""
        if self.is_uniform:
            made = self.construct(self.stack.layer_types[0])
            return f"{made} for _ in range(config.{self.count})"
        return f"{self.function}(config)"

    def section(self, comments: tuple[str, ...]) -> str:
        """The constants and the function of a pattern."""
        cycle = [self.stack.layer_types[kind] for kind in self.stack.segments[0].cycle]
        used = list(dict.fromkeys(cycle))
        seen = [view_of(self.stack, layer) for layer in cycle]
        return section(
            "model/layers",
            comments=comments,
            pattern_name=self.name,
            pattern=_tuple([f'"{layer.name}"' for layer in cycle]),
            count=self.count,
            views_name=self.views_name,
            views=_tuple([str(v) for v in seen]) if len(views(self.stack)) > 1 else None,
            function=self.function,
            classes=self.classes,
            cases=_cases(used, self.construct),
            last=self.construct(used[-1]),
        )

    def new_cache(self, like: str) -> list[str]:
        """The body of `new_cache`: one room for all layers, or one for each kind."""
        shapes = {layer: _room(layer) for layer in self.stack.layer_types}
        distinct = list(dict.fromkeys(shapes.values()))
        scope = Scope("self.config")
        text = CacheText(
            like,
            self.count,
            self.name,
            _shape(distinct[0], scope),
            _cases(list(shapes), lambda layer: _shape(shapes[layer], scope)),
            _shape(shapes[self.stack.layer_types[-1]], scope),
        )
        template = "model/one_room" if len(distinct) == 1 else "model/room_by_kind"
        return list(lines(template, "forward", text))


@dataclass(frozen=True)
class CacheText:
    """What the templates of `new_cache` print."""

    like: str
    count: str
    pattern: str
    shape: str
    cases: list[Case]
    last: str


def _cases(layers: list[LayerType], value: Construct) -> list[Case]:
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


def _tuple(items: list[str]) -> str:
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"
