"""A block class: its sublayers' norms and bodies, and the one equation of each, x <- out(x +
post(body(pre(x)))).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specc.ir.attention import Attention, AttentionSource, LatentAttention
from specc.ir.block import Block, Residual, Sublayer, Wiring
from specc.ir.feed_forward import FeedForward
from specc.ir.init import Fill
from specc.render.citations import Citations
from specc.render.classes import PartClass
from specc.render.code import Scope, literal
from specc.render.engine import section
from specc.render.norms import NormTable
from specc.render.views import ViewText

Construct = Callable[[Sublayer, Scope], str]


@dataclass(frozen=True)
class BlockShape:
    """What a block's `forward` is given besides x, and so what its caller must pass."""

    view: ViewText | None
    memory: bool
    cached: bool
    gives_weights: bool

    @property
    def parameters(self) -> list[str]:
        found = ["x: Tensor,  # [B, T, D]"]
        if self.view is not None:
            found.append(self.view.parameter)
        if self.memory:
            found.append("memory: Tensor,  # [B, M, D]")
            found.append("memory_mask: Tensor | None,  # [B, 1, 1, M], True = may look")
        if self.cached:
            found.append("cache: LayerCache | None,")
        if self.gives_weights:
            found.append("with_weights: bool,")
        return found


@dataclass(frozen=True)
class BodyCall:
    """What a sublayer's body is given besides x."""

    looks: bool = False  # through the view
    memory: bool = False
    cached: bool = False
    gives_weights: bool = False


def body_call(body: Attention | LatentAttention | FeedForward) -> BodyCall:
    """How a body is called."""
    match body:
        case Attention():
            looks = body.source is AttentionSource.SELF
            return BodyCall(looks, not looks, body.cached, body.gives_weights)
        case LatentAttention():
            return BodyCall(looks=True, cached=body.cached)
        case _:
            return BodyCall()


@dataclass(frozen=True)
class Given:
    """A sublayer whose body is handed to the block: its attribute and the bodies' classes."""

    name: str
    classes: tuple[str, ...]

    @property
    def parameter(self) -> str:
        return f"{self.name}: {' | '.join(self.classes)}"


@dataclass(frozen=True)
class BlockContext:
    """What a block's class depends on besides the block."""

    view: ViewText | None
    given: tuple[Given, ...]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(given.name for given in self.given)


def block_shape(block: Block, view: ViewText | None) -> BlockShape:
    """What the blocks of that structure take."""
    calls = [body_call(s.body) for s in block.sublayers]
    return BlockShape(
        view if any(call.looks for call in calls) else None,
        memory=any(call.memory for call in calls),
        cached=any(call.cached for call in calls),
        gives_weights=any(call.gives_weights for call in calls),
    )


def block_section(
    cls: PartClass[Block],
    norms: NormTable,
    context: BlockContext,
    construct: Construct,
    cite: Citations,
) -> str:
    """The text of one block class. `construct` makes the bodies that are not given."""
    block, shape = cls.part, block_shape(cls.part, context.view)
    parallel = block.wiring is Wiring.PARALLEL
    cited = [line for line in cite.at("block").splitlines() if line]
    return section(
        "block/class",
        name=cls.name,
        summary=_summary(block),
        init_parameters=(
            "self",
            "config: Config",
            *cls.parameters,
            *(given.parameter for given in context.given),
            *(["layer: int"] if counts_layers(block, context.names) else []),
        ),
        init=_init(cls, norms, context.names, construct, cite),
        fills=[
            f"nn.init.constant_(self.{s.layer_scale.name}, {literal(s.layer_scale.init.value)})"
            for s in block.sublayers
            if s.layer_scale is not None and isinstance(s.layer_scale.init, Fill)
        ],
        parameters=shape.parameters,
        returns="tuple[Tensor, Tensor | None]" if shape.gives_weights else "Tensor",
        forward=cited + (_parallel(block, shape) if parallel else _sequential(block, shape)),
    )


def counts_layers(block: Block, given: frozenset[str] = frozenset()) -> bool:
    """Whether a part of the block that is not given must know which layer it stands in."""
    bodies = [s.body for s in block.sublayers if s.name not in given]
    return any(isinstance(body, Attention) and body.scale_by_layer for body in bodies)


def with_more(code: str, *more: str) -> str:
    """A construction with more arguments."""
    return f"{', '.join((code.removesuffix(')'), *more))})"


def _init(
    cls: PartClass[Block],
    norms: NormTable,
    given: frozenset[str],
    construct: Construct,
    cite: Citations,
) -> list[str]:
    found: list[str] = []
    for sublayer in cls.part.sublayers:
        before = [sublayer.pre] if sublayer.pre else []
        after = [norm for norm in (sublayer.post, sublayer.out) if norm]
        found += [f"self.{norm.name} = {norms.code(norm, cls.scope)}" for norm in before]
        is_given = sublayer.name in given
        body = sublayer.name if is_given else construct(sublayer, cls.scope)
        found.append(f"self.{sublayer.name} = {body}")
        found += [f"self.{norm.name} = {norms.code(norm, cls.scope)}" for norm in after]
        if sublayer.layer_scale is not None:
            size = cls.scope.width(sublayer.layer_scale.width)
            name = sublayer.layer_scale.name
            found.append(f"self.{name} = nn.Parameter(torch.empty({size}))")
        if sublayer.multiplier is not None:
            found.append(f"self.residual_multiplier = {cls.scope.number(sublayer.multiplier)}")
    unique = list(dict.fromkeys(found))  # parallel sublayers may share one norm
    return [line for line in cite.at("norm").splitlines() if line] + unique


def _call(sublayer: Sublayer, value: str, shape: BlockShape) -> str:
    """The body applied to a value, with all that it needs to know."""
    arguments, call = [value], body_call(sublayer.body)
    if call.looks and shape.view is not None:
        arguments.append(shape.view.argument)
    if call.memory:
        arguments += ["memory", "memory_mask"]
    if call.cached:
        arguments.append("cache")
    elif call.looks and shape.view is not None and shape.view.cached:
        arguments.append("None")
    if call.gives_weights:
        arguments.append("with_weights")
    return f"self.{sublayer.name}({', '.join(arguments)})"


def _scaled(sublayer: Sublayer, added: str) -> str:
    """What is added, through its norm and times its gains."""
    if sublayer.post:
        added = f"self.{sublayer.post.name}({added})"
    if sublayer.layer_scale is not None:
        added = f"self.{sublayer.layer_scale.name} * {added}"
    if sublayer.multiplier is not None:
        added = f"self.residual_multiplier * {added}"
    return added


def _sequential(block: Block, shape: BlockShape) -> list[str]:
    found: list[str] = []
    last = len(block.sublayers) - 1
    for i, sublayer in enumerate(block.sublayers):
        value = f"self.{sublayer.pre.name}(x)" if sublayer.pre else "x"
        if sublayer.residual is Residual.NORMED:
            found.append(f"x = {value}  # the stream itself is normed")
            value = "x"
        added = _call(sublayer, value, shape)
        if body_call(sublayer.body).gives_weights:
            found.append(f"attended, weights = {added}")
            added = "attended"
        elif sublayer.multiplier is not None or sublayer.layer_scale is not None:
            found.append(f"added = {added}")
            added = "added"
        total = f"x + {_scaled(sublayer, added)}"
        if sublayer.out:
            total = f"self.{sublayer.out.name}({total})"
        if i < last:
            found.append(f"x = {total}")
        else:
            found.append(f"return {total}, weights" if shape.gives_weights else f"return {total}")
    return found


def _parallel(block: Block, shape: BlockShape) -> list[str]:
    found: list[str] = []
    pres = [s.pre.name for s in block.sublayers if s.pre]
    shared = len(pres) == len(block.sublayers) and len(set(pres)) == 1
    if shared:
        found.append(f"normed = self.{pres[0]}(x)")
    terms = ["x"]
    for sublayer in block.sublayers:
        own = f"self.{sublayer.pre.name}(x)" if sublayer.pre else "x"
        added = _call(sublayer, "normed" if shared else own, shape)
        if body_call(sublayer.body).gives_weights:
            found.append(f"attended, weights = {added}")
            added = "attended"
        terms.append(_scaled(sublayer, added))
    total = " + ".join(terms)
    return [*found, f"return {total}, weights" if shape.gives_weights else f"return {total}"]


def _summary(block: Block) -> str:
    """One sentence on where the norms stand."""
    first = block.sublayers[0]
    if block.wiring is Wiring.PARALLEL:
        shared = len({s.pre.name for s in block.sublayers if s.pre}) == 1
        return (
            "Parallel: all sublayers read one normed copy, and one sum adds them."
            if shared
            else "Parallel: every sublayer reads its own normed copy, and one sum adds them."
        )
    match (first.pre is not None, first.post is not None, first.out is not None):
        case (True, False, False):
            return "Pre-norm: each sublayer reads a normed copy and adds to the raw stream."
        case (False, False, True):
            return "Post-norm: the sum of the stream and each sublayer is normed."
        case (True, True, False):
            return "Sandwich norm: each sublayer's input and output are normed, the stream is not."
        case (False, True, False):
            return "Post-sublayer norm: what each sublayer adds to the raw stream is normed."
        case _:
            return "Each sublayer adds to the stream."
