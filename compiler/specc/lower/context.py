"""What every builder of this room gets: the spec, the names, and whose part is being built."""

from __future__ import annotations

from dataclasses import dataclass, replace

from specc.ir.sizes import Constant, Size, Vector
from specc.lower.names import Names, RelativePath, Request, Scope
from specc.spec import schema

OUTSIDE = Scope()


@dataclass(frozen=True)
class Context:
    """One place of the spec. `size` and `constant` name numbers for `Config` as seen from there."""

    spec: schema.Spec
    names: Names
    scope: Scope = OUTSIDE

    def inside(
        self, stack: str | None = None, layer_type: str | None = None, part: str | None = None
    ) -> Context:
        """The same, one step further in."""
        scope = Scope(
            self.scope.stack if stack is None else stack,
            self.scope.layer_type if layer_type is None else layer_type,
            self.scope.part if part is None else part,
        )
        return replace(self, scope=scope)

    def size(self, base: str, value: int, letter: str, path: RelativePath) -> Size:
        """An integer of `Config`; `path` is where the schema has it."""
        return Size(self.names.ask(Request(base, value, self.scope, path)), value, letter)

    def constant(
        self, base: str, value: float, path: RelativePath, share_with: str | None = None
    ) -> Constant:
        """A float of `Config`; `path` is where the schema has it."""
        request = Request(base, value, self.scope, path, share_with)
        return Constant(self.names.ask(request), value)

    def vector(self, base: str, values: tuple[float, ...], path: RelativePath) -> Vector:
        """A tuple of floats of `Config`; `path` is where the schema has it."""
        return Vector(self.names.ask(Request(base, values, self.scope, path)), values)

    @property
    def d_model(self) -> Size:
        """The width of the stream."""
        return self.at_root().size("d_model", self.spec.d_model, "D", ("d_model",))

    @property
    def vocab_size(self) -> Size:
        """How many tokens there are; rules see to it that a model with tokens says so."""
        return self.at_root().size("vocab_size", self.spec.vocab_size or 0, "V", ("vocab_size",))

    @property
    def max_seq_len(self) -> Size:
        """The length of tables of positions; rules see to it that a model with tables says so."""
        value = self.spec.max_seq_len or 0
        return self.at_root().size("max_seq_len", value, "max_seq_len", ("max_seq_len",))

    @property
    def has_two_stacks(self) -> bool:
        """Whether names must say which stack they belong to."""
        return len(self.spec.stacks) > 1

    @property
    def is_causal(self) -> bool:
        """Whether tokens of this stack see only what came before."""
        kinds = ("decoder", "encoder_decoder")
        return self.spec.kind in kinds and self.scope.stack == "decoder"

    def at_root(self) -> Context:
        """The same outside every stack and layer type."""
        return replace(self, scope=OUTSIDE)

    def stack_prefix(self) -> str:
        """What module names of this stack start with: nothing when there is one stack only."""
        return f"{self.scope.stack}_" if self.has_two_stacks else ""
