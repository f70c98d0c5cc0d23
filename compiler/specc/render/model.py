"""One file from one model: plan its classes, render each section bottom-up, and put them in order.

Nothing is decided about the architecture here: what follows from the IR's structure alone (which
classes there
are, what each takes, which helpers they call) is worked out once and handed to the templates.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from specc.ir.attention import (
    Attention,
    AttentionSource,
    LatentAttention,
    QkL2Norm,
    kept_window,
)
from specc.ir.block import Block, LayerType, Stack, Sublayer, TokenInput
from specc.ir.feed_forward import FeedForward, Glu, MixtureOfExperts, Mlp
from specc.ir.layers import Norm
from specc.ir.model import Kind, Model
from specc.ir.positions import LearnedPosition, Rotary, Sinusoidal
from specc.ir.views import self_attention
from specc.ir.walk import walk
from specc.render.attention import attention_section
from specc.render.attention_text import AttentionText
from specc.render.block import BlockContext, block_section, counts_layers, with_more
from specc.render.citations import Citations
from specc.render.classes import ClassTable, PartClass, Role
from specc.render.code import Scope
from specc.render.engine import lines, section
from specc.render.generating import generating
from specc.render.header import config_section, header_section
from specc.render.heads import HeadText
from specc.render.helpers import counts_from_start, helper_sections
from specc.render.imports import imports_section
from specc.render.latent import LatentText, latent_section
from specc.render.layers import Pattern, cache_section
from specc.render.methods import Forward, Method
from specc.render.names import Names, Tables
from specc.render.norms import NormTable
from specc.render.position_wise import FeedForwardTable
from specc.render.positions import PositionTable, Turns, turns_shape
from specc.render.products import shared_by_cores
from specc.render.reset import reset_lines
from specc.render.shells import shared_blocks
from specc.render.stack import StackText
from specc.render.views import ViewText, as_class, view_texts

if TYPE_CHECKING:
    from specc.weights import Layout

Part = TypeVar("Part")
Body = Attention | LatentAttention | FeedForward

NAMES = {
    Kind.DECODER: (Names("tokens", "token_mask", "T"),),
    Kind.ENCODER: (Names("tokens", "token_mask", "T"),),
    Kind.ENCODER_DECODER: (
        Names("source", "source_mask", "M"),
        Names("target", "target_mask", "T"),
    ),
    Kind.FEATURES: (Names("queries", "query_mask", "T"),),
}

SUMMARIES = {
    Kind.DECODER: "Token ids in, next-token logits out.",
    Kind.ENCODER: "Token ids in, {} out.",
    Kind.ENCODER_DECODER: "Source and target ids in, the logits of what follows the target out.",
    Kind.FEATURES: "Query features and a memory in, features out.",
}


class FilePlan:
    """All that the sections of one file share."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.cite = Citations(model.citations)
        self.views = view_texts(model)
        self.norms = NormTable(p for p in walk(model.stacks + model.heads) if isinstance(p, Norm))
        alibi = next((v for v in self.views.values() if v.biased or v.mixed), None)
        self.positions = PositionTable(model, alibi)
        self.turns = Turns(model)
        places = [(stack, layer) for stack in model.stacks for layer in stack.layer_types]
        subs = [(s, t, x) for s, t in places for x in t.block.sublayers]
        attentions = [(s, t, x.body) for s, t, x in subs if isinstance(x.body, Attention)]
        self.self_attention = ClassTable(
            "Attention",
            [self.attention(s, t, a) for s, t, a in attentions if a.source is AttentionSource.SELF],
        )
        self.cross_attention = ClassTable(
            "CrossAttention",
            [
                self.attention(s, t, a)
                for s, t, a in attentions
                if a.source is AttentionSource.MEMORY
            ],
        )
        self.latent_attention = ClassTable(
            "LatentAttention",
            [
                self.role(s, t, as_class(x.body, self.views.get(s.name)))
                for s, t, x in subs
                if isinstance(x.body, LatentAttention)
            ],
        )
        self.feed_forward = FeedForwardTable(
            [
                Role(x.body, s.name, t.name)
                for s, t, x in subs
                if isinstance(x.body, Mlp | Glu | MixtureOfExperts)
            ]
        )
        self.block_roles = self._block_roles()
        self.blocks = ClassTable("Block", list(self.block_roles.values()))

    def _block_roles(self) -> dict[tuple[str, str], Role[Block]]:
        """Of each layer type of each stack. The tables of their bodies' classes must be there."""
        found = [
            Role(_unplaced(layer.block, self.views.get(stack.name)), stack.name, layer.name)
            for stack in self.model.stacks
            for layer in stack.layer_types
        ]
        return shared_blocks(found, self.views, self.class_of)

    def role(self, stack: Stack, layer: LayerType, part: Part) -> Role[Part]:
        """A part whose class also depends on what its stack's layers look through."""
        return Role(part, stack.name, layer.name, self.views.get(stack.name))

    def attention(self, stack: Stack, layer: LayerType, part: Attention) -> Role[Attention]:
        """An attention as its class has it, which may serve two stacks."""
        return self.role(stack, layer, as_class(part, self.views.get(stack.name)))

    def construct(self, role: Role[Block], sublayer: Sublayer, scope: Scope) -> str:
        """The construction of one sublayer of the block in that role."""
        body = sublayer.body
        place = (role.stack, role.layer_type)
        if isinstance(body, Mlp | Glu | MixtureOfExperts):
            return self.feed_forward.construct(Role(body, *place), scope)
        view = self.views.get(role.stack)
        if isinstance(body, LatentAttention):
            latent = Role(as_class(body, view), *place, view)
            return self.latent_attention.call(latent).code(scope)
        own = self.self_attention if body.source is AttentionSource.SELF else self.cross_attention
        code = own.call(Role(as_class(body, view), *place, view)).code(scope)
        return with_more(code, "layer") if body.scale_by_layer else code

    def class_of(self, role: Role[Block], sublayer: Sublayer) -> str:
        """The class of one sublayer of the block in that role."""
        return self.construct(role, sublayer, Scope()).partition("(")[0]

    def construct_layer(self, stack: Stack, layer: LayerType) -> str:
        """The construction of a layer, with the bodies that its block is given."""
        role = self.block_roles[stack.name, layer.name]
        given = _context(role).names
        bodies = [
            self.construct(role, s, Scope()) for s in layer.block.sublayers if s.name in given
        ]
        counted = ["layer"] if counts_layers(layer.block, given) else []
        return with_more(self.blocks.call(role).code(Scope()), *bodies, *counted)

    def view(self, cls: PartClass[Part]) -> ViewText | None:
        """What the layers look through in which the class stands, by a window or not."""
        view = self.views.get(cls.roles[0].stack)
        return view and replace(view, windowed=any(map(self._is_windowed, cls.roles)))

    def _is_windowed(self, role: Role[Part]) -> bool:
        """Whether a cache keeps only a window of the layers in that role."""
        types = self.model.stack(role.stack).layer_types
        own = (self_attention(t.block) for t in types if t.name == role.layer_type)
        return any(attention is not None and kept_window(attention) for attention in own)

    def class_sections(self) -> list[str]:
        """Attention, feed-forward and block classes, bottom-up."""
        found = [
            attention_section(cls, self.attention_text(cls))
            for table in (self.self_attention, self.cross_attention)
            for cls in table.classes
        ]
        found += [
            latent_section(
                cls, LatentText(cls.part, cls.scope, self.norms, view, self.cite, self.turns)
            )
            for cls in self.latent_attention.classes
            if (view := self.view(cls)) is not None
        ]
        found += self.feed_forward.sections(self.cite)
        for cls in self.blocks.classes:
            role = cls.roles[0]

            def construct(sublayer: Sublayer, scope: Scope, role: Role[Block] = role) -> str:
                return self.construct(role, sublayer, scope)

            found.append(block_section(cls, self.norms, _context(role), construct, self.cite))
        return found

    def attention_text(self, cls: PartClass[Attention]) -> AttentionText:
        """What the steps of one attention class print."""
        return AttentionText(cls.part, cls.scope, self.norms, self.view(cls), self.cite, self.turns)

    def patterns(self) -> list[Pattern]:
        """How each stack's layers are made."""
        found = []
        for stack in self.model.stacks:
            prefix = stack.name if len(self.model.stacks) > 1 else ""
            code = {t: self.construct_layer(stack, t) for t in stack.layer_types}
            names = tuple(dict.fromkeys(made.partition("(")[0] for made in code.values()))
            counted = any(counts_layers(t.block) for t in stack.layer_types)
            found.append(Pattern(stack, prefix, code.__getitem__, names, counted))
        return found

    def resetting(self) -> list[str]:
        """The classes that fill their own parameters and tables."""
        attention = [
            cls.name
            for table in (self.self_attention, self.cross_attention)
            for cls in table.classes
            if cls.part.sinks is not None
            or (isinstance(cls.part.qk_norm, QkL2Norm) and cls.part.qk_norm.temperature)
        ]
        blocks = [
            cls.name
            for cls in self.blocks.classes
            if any(sublayer.layer_scale is not None for sublayer in cls.part.sublayers)
        ]
        own = [*self.norms.class_names, *self.positions.class_names]
        return [*own, *attention, *self.feed_forward.resetting, *blocks]


def _context(role: Role[Block]) -> BlockContext:
    """What `shared_blocks` says of a block besides its part."""
    if not isinstance(role.context, BlockContext):
        raise TypeError(f"no block: {role}")
    return role.context


def _unplaced(block: Block, view: ViewText | None) -> Block:
    """The block without what its view says of the tokens' places."""
    return replace(
        block,
        sublayers=tuple(replace(s, body=_unplaced_body(s.body, view)) for s in block.sublayers),
    )


def _unplaced_body(body: Body, view: ViewText | None) -> Body:
    if isinstance(body, Attention):
        return replace(as_class(body, view), cached=body.cached)
    return as_class(body, view) if isinstance(body, LatentAttention) else body


def model_sections(plan: FilePlan) -> list[str]:
    """The constants, the output type and the class of the model itself."""
    model, patterns = plan.model, plan.patterns()
    stacks = _stack_texts(plan, patterns)
    mask = None if model.kind is Kind.FEATURES else stacks[-1].names.mask
    heads = [
        HeadText(h, plan.norms, mask, "x", "T", model.generate, plan.cite) for h in model.heads
    ]
    forward = Forward(
        model.kind,
        stacks,
        heads,
        model.attention_weights,
        model.generate,
        _limit(model),
        model.stacks[-1].layers_name,
    )
    init = [line for stack in stacks for line in lines("model/stack", "init", stack)]
    init = list(dict.fromkeys(init)) + [line for head in heads for line in head.init()]
    fills = [line for head in heads for line in head.fill()]
    reset = plan.cite.at("init").splitlines() + reset_lines(model, plan.resetting(), fills)
    cache = _new_cache(model, patterns)
    methods = [method.text() for method in (*cache, *forward.methods())]
    methods += generating(model, forward)
    found = [text for pattern in patterns for text in pattern.sections()]
    if forward.returns == "Output":
        found.append(section("model/output", fields=_output_fields(heads, model, stacks[-1])))
    main = section(
        "model/class",
        name=model.class_name,
        summary=_summary(model),
        init=init,
        reset=reset,
        methods=methods,
    )
    return [*found, main]


def _stack_texts(plan: FilePlan, patterns: list[Pattern]) -> list[StackText]:
    model = plan.model
    tables = Tables(plan.positions.constructions(), plan.positions.sliced)
    return [
        StackText(
            stack,
            names,
            plan.views.get(stack.name),
            plan.norms,
            tables,
            pattern,
            counts_from_start(model),
            "visible_source" if stack is not model.stacks[-1] else "visible_tokens",
            plan.cite,
        )
        for stack, names, pattern in zip(model.stacks, NAMES[model.kind], patterns, strict=True)
    ]


def _new_cache(model: Model, patterns: list[Pattern]) -> list[Method]:
    if not model.cache:
        return []
    stack = model.stacks[-1].input
    like = f"self.{stack.embedding.name}.weight" if isinstance(stack, TokenInput) else ""
    doc = "Make room for `capacity` tokens of `batch` sequences."
    body = patterns[-1].new_cache(like)
    return [Method("new_cache", ["batch: int,", "capacity: int,"], "Cache", doc, body)]


def _limit(model: Model) -> str | None:
    """The Config name of the number of positions that there are tables for."""
    tables = (Rotary, LearnedPosition, Sinusoidal)
    return next((p.size.name for p in walk(model.stacks) if isinstance(p, tables)), None)


def _output_fields(heads: list[HeadText], model: Model, stack: StackText) -> list[str]:
    found = [f"{head.head.output_name}: Tensor  # {head.shape}" for head in heads]
    if model.attention_weights:
        found.append(f"attention_weights: tuple[Tensor, ...]  # {stack.weights_shape} each")
    return found


def _summary(model: Model) -> str:
    names = " and ".join(head.output_name.replace("_", " ") for head in model.heads)
    return SUMMARIES[model.kind].format(names)


def _loader(model: Model, layout: Layout) -> str:
    """The function that loads published weights; most files have none, so it is imported here."""
    from specc.render.loader import loader_section
    from specc.weights import operations

    return loader_section(model, layout, operations(model, layout))


def render(model: Model, layout: Layout | None = None) -> str:
    """The text of the file below its first line; formatting is left to the rewrite room.

    A layout asks for a function that loads what is stored so. Raises LoaderError, WeightsError.
    """
    plan = FilePlan(model)
    config = config_section(model, plan.cite)
    turns = turns_shape(model)
    views = {v.type_name: v for v in plan.views.values() if v.type_name is not None}
    parts = [
        *helper_sections(model, plan.views),
        *plan.norms.sections(),
        *plan.positions.sections(),
        *plan.class_sections(),
        *model_sections(plan),
    ]
    body = [
        config,
        *(section("model/view", view=view, turns=turns) for view in views.values()),
        *([cache_section(model)] if model.cache else []),
        *(shared_by_cores(parts) if model.cpu_decode else parts),
        *([_loader(model, layout)] if layout else []),
    ]
    text = "\n\n\n".join(part.rstrip() for part in body)
    header = header_section(model, text, plan.cite)
    return "\n\n".join([header, imports_section(text), text]) + "\n"
