"""One stack inside the model class: its modules, and the lines that take ids or features through
its layers.
"""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.attention import Attention, AttentionSource, LatentAttention, PositionTemperature
from specc.ir.block import EmbeddingScale, FeatureInput, ProjectAt, Stack, TokenInput
from specc.ir.layers import Linear, Norm
from specc.ir.positions import (
    LearnedPosition,
    PositionIndex,
    Sinusoidal,
)
from specc.ir.sizes import Constant, Size
from specc.ir.views import View, view_of, views
from specc.render.block import block_shape
from specc.render.citations import Citations
from specc.render.code import Scope
from specc.render.engine import lines
from specc.render.feed_forward import linear_code
from specc.render.layers import Pattern
from specc.render.masks import Masks, look
from specc.render.names import Names, RotaryLine, Tables, follows_length, variable
from specc.render.norms import NormTable
from specc.render.views import ViewText


@dataclass(frozen=True)
class StackText:
    """What the templates of one stack print. `layers` is the code that makes its layers."""

    stack: Stack
    names: Names
    view: ViewText | None
    norms: NormTable
    tables: Tables
    pattern: Pattern
    any_cached: bool  # whether `token_positions` takes a start, for some stack of the file
    visible: str  # the function that makes the mask
    cite: Citations

    scope = Scope()

    def number(self, number: Size | Constant) -> str:
        return self.scope.number(number)

    def linear(self, linear: Linear) -> str:
        return linear_code(linear, self.scope)

    def _projects(self, at: ProjectAt) -> bool:
        return self.input.project is not None and self.input.project.at is at

    @property
    def projects_first(self) -> bool:
        return self._projects(ProjectAt.BEFORE_POSITION)

    @property
    def projects_second(self) -> bool:
        return self._projects(ProjectAt.BEFORE_NORM)

    @property
    def projects_last(self) -> bool:
        return self._projects(ProjectAt.AFTER_NORM)

    def norm(self, norm: Norm) -> str:
        return self.norms.code(norm, self.scope)

    @property
    def tokens(self) -> str:
        return self.names.tokens

    @property
    def length(self) -> str:
        return self.names.length

    @property
    def input(self) -> TokenInput:
        if isinstance(self.stack.input, FeatureInput):
            raise TypeError(f"the {self.stack.name} reads features, not tokens")
        return self.stack.input

    @property
    def rows(self) -> str:
        return self.number(self.input.embedding.rows)

    @property
    def width(self) -> str:
        return self.number(self.input.embedding.width)

    @property
    def cached(self) -> bool:
        return any(
            isinstance(s.body, Attention | LatentAttention) and s.body.cached
            for layer in self.stack.layer_types
            for s in layer.block.sublayers
        )

    @property
    def gives_weights(self) -> bool:
        return any(block_shape(t.block, None).gives_weights for t in self.stack.layer_types)

    @property
    def weights_shape(self) -> str:
        """The shape of the attention weights that a layer may give."""
        sources = [
            s.body.source
            for layer in self.stack.layer_types
            for s in layer.block.sublayers
            if isinstance(s.body, Attention) and s.body.gives_weights
        ]
        own = "T" if self.view is None else self.view.keys
        keys = "M" if AttentionSource.MEMORY in sources else own
        return f"[B, H, T, {keys}]"

    # Modules

    @property
    def input_modules(self) -> list[str]:
        """The lines that make what stands before the layers."""
        if isinstance(self.stack.input, FeatureInput):
            return []
        return list(lines("model/embed", "init", self)) + self._view_modules

    @property
    def position_init(self) -> list[str]:
        position = self.input.position
        if position is None:
            return []
        cited = [line for line in self.cite.at("position").splitlines() if line]
        return [*cited, f"self.{position.name} = {self.tables.constructions[position.name]}"]

    @property
    def _view_modules(self) -> list[str]:
        parts = [p for view in self._views for p in (view.rotary, view.alibi) if p is not None]
        found = [f"self.{p.name} = {self.tables.constructions[p.name]}" for p in parts]
        cited = [line for line in self.cite.at("position").splitlines() if line] if found else []
        return cited + list(dict.fromkeys(found))

    # From ids to features

    @property
    def embedded(self) -> str:
        """The rows of the embedding, scaled."""
        value = f"self.{self.input.embedding.name}({self.tokens})"
        match self.input.scale:
            case EmbeddingScale.ONE:
                return value
            case EmbeddingScale.SQRT_WIDTH:
                return f"{value} * math.sqrt(self.config.{self.input.embedding.width.name})"
            case Constant(name):
                return f"{value} * self.config.{name}"

    @property
    def position(self) -> str | None:
        """The look-up of the table of positions, if one is added to the embeddings."""
        match self.input.position:
            case Sinusoidal(name):
                return f"{name}(position)"
            case LearnedPosition(name, offset=0):
                return f"{name}(position)"
            case LearnedPosition(name, offset=offset):
                return f"{name}(position + {offset})"
            case None:
                return None

    # Places

    @property
    def _views(self) -> tuple[View, ...]:
        return views(self.stack)

    @property
    def _index(self) -> PositionIndex | None:
        """How positions are counted; None if nothing asks for one."""
        if isinstance(self.stack.input, FeatureInput):
            return None
        if self.stack.input.position is not None:
            return self.stack.input.position.index
        turned = next((v.rotary.index for v in self._views if v.rotary is not None), None)
        return PositionIndex.MASK if turned is None and self.temperature else turned

    @property
    def needs_position(self) -> bool:
        return self._index is not None

    @property
    def counts_ids(self) -> bool:
        return self._index is PositionIndex.IDS

    @property
    def pad_id(self) -> int | None:
        position = self.input.position
        return position.pad_id if isinstance(position, LearnedPosition) else None

    @property
    def counts_real_tokens(self) -> bool:
        return self._index is PositionIndex.MASK

    @property
    def span(self) -> str:
        return "start, end" if self.cached else f"{self.tokens}.size(1)"

    @property
    def sliced(self) -> bool:
        return self.tables.sliced

    @property
    def position_shape(self) -> str:
        whole = f"[B, {self.length}]"
        return f"  # {whole} or a slice" if self.sliced else f"  # [{self.length}] or {whole}"

    @property
    def position_arguments(self) -> str:
        start = ["start" if self.cached else "0"] if self.any_cached else []
        return ", ".join([self.tokens, self.names.mask, *start])

    @property
    def mask_lines(self) -> list[str]:
        """The masks that the views of this stack need."""
        return [] if self.view is None else self._masks(self.view).lines()

    def _masks(self, text: ViewText) -> Masks:
        names = self.names
        return Masks(
            self.stack, text, self.cached, names.tokens, names.mask, names.length, self.visible
        )

    @property
    def reads_length(self) -> bool:
        """Whether frequencies depend on how long the call or the cache is."""
        return any(follows_length(v.rotary) for v in self._views)

    @property
    def call_length(self) -> str:
        end = f"{self.tokens}.size(1)"
        return f"{end} if cache is None else cache.capacity" if self.cached else end

    @property
    def temperature(self) -> PositionTemperature | None:
        """What makes queries grow with their position in some layers of this stack."""
        found = [
            s.body.temperature
            for layer in self.stack.layer_types
            for s in layer.block.sublayers
            if isinstance(s.body, Attention) and s.body.temperature is not None
        ]
        return found[0] if found else None

    @property
    def temperature_numbers(self) -> str:
        part = self.temperature
        if part is None:
            raise TypeError("a stack without a temperature")
        return f"self.config.{part.floor.name}, self.config.{part.coefficient.name}"

    @property
    def rotary_lines(self) -> list[RotaryLine]:
        return [
            RotaryLine(
                rotary.name,
                variable(rotary, "cos"),
                variable(rotary, "sin"),
                "position, x.dtype" + (", length" if follows_length(rotary) else ""),
            )
            for rotary in dict.fromkeys(v.rotary for v in self._views)
            if rotary is not None
        ]

    @property
    def tuple_views(self) -> bool:
        return self.view is not None and self.view.type_name is not None

    @property
    def view_variables(self) -> list[str]:
        """What the views are called: `view`, or `local_view` for what layers of type local see."""
        if len(self._views) == 1:
            return ["view"]
        first: dict[int, str] = {}
        for layer in self.stack.layer_types:
            first.setdefault(view_of(self.stack, layer) or 0, f"{layer.name}_view")
        return [first[i] for i in range(len(self._views))]

    @property
    def view_lines(self) -> list[str]:
        """The lines that make the views."""
        if not self.tuple_views:
            return []
        named = zip(self.view_variables, self._views, strict=True)
        return [f"{name} = {self._view_value(view)}" for name, view in named]

    def _view_value(self, view: View) -> str:
        text = self.view
        if text is None or text.type_name is None:
            raise TypeError("a stack without views of several fields")
        given: list[str] = []
        if text.rotary:
            rotary = view.rotary or next(v.rotary for v in self._views if v.rotary is not None)
            given += [variable(rotary, "cos"), variable(rotary, "sin")]
        masks = self._masks(text)
        mask = masks.variable(view)
        given.append(mask)
        if text.flag and masks.is_flagged(view):
            given.append("is_causal")
        elif text.flag:
            alone = view.causal and not self.cached and look(view).is_plain
            given.append(f"{mask} is None" if alone else "False")
        if text.temperature:
            given.append("temperature")
        if text.cached:
            given.append("start" if self.cached else "0")
        return f"{text.type_name}({', '.join(given)})"

    # Layers

    @property
    def _counts(self) -> bool:
        """Whether the loop needs to know how many layers came before."""
        return self.cached or self.gives_weights or len(self._views) > 1

    @property
    def loop(self) -> str:
        layers = f"self.{self.stack.layers_name}"
        return f"i, layer in enumerate({layers})" if self._counts else f"layer in {layers}"

    @property
    def loop_lines(self) -> list[str]:
        """What is worked out for each layer on lines of its own, where the call would be long."""
        found = []
        if self.tuple_views and len(self._views) > 1:
            found.append(self.pattern.view_line("view", self.view_variables))
        elif self.view is not None and len(self._views) > 1:
            masks = self._masks(self.view)
            found.append(self.pattern.view_line("mask", [masks.variable(v) for v in self._views]))
        many = bool(found) or self.gives_weights or self.names.tokens != "tokens"
        if self.cached and many:
            found.append("room = None if cache is None else cache.layers[i]")
        return found

    @property
    def layer_arguments(self) -> str:
        shape = block_shape(self.stack.layer_types[0].block, self.view)
        found = ["x"]
        if shape.view is not None:
            found.append(shape.view.argument)
        if shape.memory:
            found += ["memory", "visible"]
        if self.cached:
            room = "None if cache is None else cache.layers[i]"
            found.append("room" if self.loop_lines else room)
        if self.gives_weights:
            found.append("i in attention_layers")
        return ", ".join(found)

    def body(self) -> list[str]:
        """From the tokens, or from x, to the features after the last layer."""
        found: list[str] = []
        if self.needs_position:
            found += lines("model/positions", "forward", self)
        if isinstance(self.stack.input, TokenInput):
            found += lines("model/embed", "forward", self)
        found += lines("model/look", "forward", self)
        found += lines("model/run_layers", "forward", self)
        return found

    @property
    def result(self) -> str:
        """The features after the final norm."""
        norm = self.stack.final_norm
        return "x" if norm is None else f"self.{norm.name}(x)"
