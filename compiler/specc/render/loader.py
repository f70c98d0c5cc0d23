"""A function for the generated file that gives published tensors the file's own names.

It is printed from the operations of `weights`, layer by layer with equal layers said once. Sizes
are `Config`'s, so that the function serves every size of the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from specc.ir.attention import Attention, LatentAttention, LowRank
from specc.ir.feed_forward import MixtureOfExperts
from specc.ir.model import Model
from specc.ir.positions import ProportionalScaling, Rotary
from specc.ir.sizes import Size
from specc.render.code import Scope
from specc.render.engine import section
from specc.weights import Arrangement, Drop, Fill, Layout, Move, Operation, Tie
from specc.weights.steps import (
    CutRows,
    Join,
    Offset,
    Split,
    Stack,
    Step,
    Transpose,
    TurnPairs,
)

HOLES = {"layer": r"\d+", "kind": "(weight|bias)", "any": ".*"}


class LoaderError(Exception):
    """An operation that no short function can say; `specc convert` does it."""


@dataclass
class Plan:
    """What the function says, as it is found out."""

    outside: dict[str, str] = field(default_factory=dict)  # ours -> theirs
    modules: dict[str, str] = field(default_factory=dict)  # in each layer, weight and bias alike
    every: dict[str, str] = field(default_factory=dict)  # the other tensors of each layer
    some: dict[str, str] = field(default_factory=dict)  # the same inside some layers
    beside: list[str] = field(default_factory=list)  # lines outside layers
    lines: list[str] = field(default_factory=list)  # for each layer
    helpers: set[str] = field(default_factory=set)


def loader_section(model: Model, layout: Layout, operations: Sequence[Operation]) -> str:
    """The function, and below it nothing. Raises LoaderError."""
    stack = model.stacks[-1]
    if len(model.stacks) > 1 or any(isinstance(op, Fill) for op in operations):
        raise LoaderError("the loader of this layout is more than a short function")
    plan, ours = Plan(), f"{stack.layers_name}."
    layers = [_layer(model, layout, operations, i) for i in range(len(stack.layers))]
    for move in (op for op in operations if isinstance(op, Move)):
        if not _is_in(move, ours):
            texts = _Writer(model, layout, None).texts(move)
            plan.beside += texts.lines
            if not texts.lines:
                plan.outside[texts.name] = texts.theirs
    merged = _merged(layers)
    for texts in merged:
        if not texts.lines:
            common = all(texts.name in layer for layer in layers)
            (plan.every if common else plan.some)[texts.name] = texts.theirs
    plan.lines += _lines(merged, layers)
    _pair_kinds(plan)
    plan.helpers |= {h for layer in layers for texts in layer.values() for h in texts.helpers}
    return section(
        "loader/function",
        plan=plan,
        helpers=[section(f"loader/{name}") for name in sorted(plan.helpers)],
        strip="".join(
            [f'.replace("{each.old}", "{each.new}")' for each in layout.spellings]
            + [f'.removeprefix("{prefix}")' for prefix in reversed(layout.prefixes)]
        ),
        ignored=_ignored(layout, operations),
        copies=_copies(plan, layout, operations),
        n_layers=" + ".join(Scope().number(part.n_layers) for part in stack.segments),
        ours=ours,
        theirs=_prefix(layout, operations, ours),
    )


@dataclass(frozen=True)
class Texts:
    """One move of one layer as lines; a mere new name has none."""

    name: str  # of its first tensor of ours, inside the layer
    theirs: str
    lines: tuple[str, ...] = ()
    helpers: frozenset[str] = frozenset()


def _lines(merged: Sequence[Texts], layers: Sequence[dict[str, Texts]]) -> Iterator[str]:
    """What is more than a new name; what only some layers have, under one condition for each set
    of layers.
    """
    by_layers: dict[tuple[int, ...], list[Texts]] = {}
    for texts in merged:
        if texts.lines:
            places = tuple(i for i, layer in enumerate(layers) if texts.name in layer)
            by_layers.setdefault(places, []).append(texts)
    for places, several in by_layers.items():
        everywhere = len(places) == len(layers)
        if not everywhere:
            yield f'if theirs + "{several[0].theirs}" in old:'
        for line in (line for texts in several for line in texts.lines):
            yield line if everywhere else f"    {line}"


def _pair_kinds(plan: Plan) -> None:
    """Say modules whose weight and bias are renamed alike once."""
    for name, published in list(plan.every.items()):
        module, _, kind = name.rpartition(".")
        source = published.removesuffix(".weight")
        if kind == "weight" and plan.every.get(f"{module}.bias") == f"{source}.bias":
            plan.modules[module] = source
            del plan.every[name], plan.every[f"{module}.bias"]


def _merged(layers: Sequence[dict[str, Texts]]) -> list[Texts]:
    """What the layers say, each once. Raises LoaderError where two say different things."""
    found: dict[str, Texts] = {}
    for layer in layers:
        for name, texts in layer.items():
            if found.setdefault(name, texts) != texts:
                raise LoaderError(f"{name} is not stored alike in all layers")
    return list(found.values())


def _layer(
    model: Model, layout: Layout, operations: Sequence[Operation], i: int
) -> dict[str, Texts]:
    prefix = f"{model.stacks[-1].layers_name}.{i}."
    found = {}
    for move in (op for op in operations if isinstance(op, Move)):
        if _is_in(move, prefix):
            texts = _Writer(model, layout, i).texts(move)
            found[texts.name] = texts
    return found


def _short(layout: Layout, name: str) -> str:
    """A published name without what files may leave out."""
    for prefix in reversed(layout.prefixes):
        name = name.removeprefix(prefix)
    return name


def _prefix(layout: Layout, operations: Sequence[Operation], ours: str) -> str:
    """What stands before the number of a layer in published names."""
    names = (op.theirs[0].name for op in operations if isinstance(op, Move) and _is_in(op, ours))
    return re.split(r"\d", _short(layout, next(names)), maxsplit=1)[0]


def _copies(plan: Plan, layout: Layout, operations: Sequence[Operation]) -> dict[str, str]:
    """Published tensors that must repeat one of ours -> that one."""
    ours = {theirs: name for name, theirs in plan.outside.items()}
    ties = (op for op in operations if isinstance(op, Tie))
    return {_short(layout, tie.theirs): ours[_short(layout, tie.of)] for tie in ties}


def _is_in(move: Move, ours: str) -> bool:
    return move.ours[0].name.startswith(ours)


def _ignored(layout: Layout, operations: Sequence[Operation]) -> list[str]:
    """Patterns of published names that are left out on purpose."""
    names = [op.pattern for op in operations if isinstance(op, Drop)]
    short = dict.fromkeys(_short(layout, name) for name in names)
    return [re.sub(r"\\{(\w+)\\}", lambda hole: HOLES[hole[1]], re.escape(name)) for name in short]


@dataclass
class _Writer:
    """Turns one move into lines, an expression for each tensor at hand.

    `layer` is the number of the layer that it belongs to, if it does.
    """

    model: Model
    layout: Layout
    layer: int | None
    helpers: set[str] = field(default_factory=set)
    lines: list[str] = field(default_factory=list)

    def texts(self, move: Move) -> Texts:
        """One move. Raises LoaderError."""
        inside = "" if self.layer is None else f"{self.model.stacks[-1].layers_name}.{self.layer}."
        names = [named.name.removeprefix(inside) for named in move.ours]
        theirs = [self._inside(named.name) for named in move.theirs]
        if not move.steps:
            return Texts(names[0], theirs[0])
        body = self._body(names[0])
        parts = [f'old.pop(theirs + "{name}")' for name in theirs]
        shapes = [named.shape for named in move.theirs]
        for step in move.steps:
            taken = parts[step.at : step.at + step.takes]
            before = shapes[step.at : step.at + step.takes]
            made = self._step(step, taken, theirs, body, len(before[0]), names)
            parts[step.at : step.at + step.takes] = made
            shapes[step.at : step.at + step.takes] = step.after(before)
        self.lines += [f'new[ours + "{n}"] = {p}' for n, p in zip(names, parts, strict=True)]
        lines = self.lines
        if self.layer is None:
            lines = [line.replace("ours + ", "").replace("theirs + ", "") for line in lines]
        return Texts(names[0], theirs[0], tuple(lines), frozenset(self.helpers))

    def _inside(self, name: str) -> str:
        short = _short(self.layout, name)
        return short if self.layer is None else short.partition(f"{self.layer}.")[2]

    def _body(self, name: str) -> object:
        if self.layer is None:
            return None
        block = self.model.stacks[-1].layers[self.layer].block
        bodies = {sublayer.name: sublayer.body for sublayer in block.sublayers}
        return bodies.get(name.partition(".")[0])

    def _step(
        self,
        step: Step,
        parts: list[str],
        theirs: list[str],
        body: object,
        rank: int,
        names: list[str],
    ) -> list[str]:
        match step:
            case Transpose():
                return [parts[0] + (".T" if rank == 2 else ".transpose(1, 2)")]
            case Stack():
                self.helpers.add("stacked")
                return [_stack(theirs, body, names[0])]
            case Split():
                return self._split(step, parts[0], body)
            case TurnPairs():
                return [self._turn(step, parts[0], body, names[0])]
            case Join(order=Arrangement.BLOCKS):
                return [f"torch.cat(({', '.join(parts)}))"]
            case Offset(_, value):
                return [f"{parts[0]} {'+' if value > 0 else '-'} {abs(value)}"]
            case CutRows(_, count):
                return [f"{parts[0]}[{count}:]"]
            case _:
                raise LoaderError(f"{type(step).__name__} is no step of a short function")

    def _split(self, step: Split, part: str, body: object) -> list[str]:
        count = len(step.sizes)
        names = ["q", "k", "v"] if count == 3 else ["gate", "up"]
        if step.order is Arrangement.INTERLEAVED:
            pick = ":, " * step.axis
            picked = ", ".join(f"x[{pick}{i}::{count}]" for i in range(count))
            self.lines += [f"x = {part}", f"{', '.join(names)} = {picked}"]
        elif step.order is not Arrangement.BLOCKS and isinstance(body, Attention):
            self.helpers.add("split_groups")
            numbers = (body.n_kv_heads, body.head_dim)
            given = ", ".join(Scope().number(number) for number in numbers)
            self.lines.append(f"q, k, v = split_groups({part}, {given})")
        elif len(set(step.sizes)) == 1 and (not isinstance(body, Attention) or not body.is_grouped):
            axis = f", {step.axis}" if step.axis else ""
            self.lines.append(f"{', '.join(names)} = {part}.chunk({count}{axis})")
        elif isinstance(body, Attention):
            sizes = [
                " * ".join(Scope().number(number) for number in (heads, body.head_dim))
                for heads in (body.n_heads, body.n_kv_heads)
            ]
            self.lines.append(f"widths = ({sizes[0]}, {sizes[1]}, {sizes[1]})")
            self.lines.append(f"q, k, v = torch.split({part}, widths)")
        else:
            raise LoaderError("rows of unequal maps outside attention")
        return names

    def _turn(self, step: TurnPairs, part: str, body: object, name: str) -> str:
        helper = "pair_halves" if step.to_half else "pair_neighbours"
        self.helpers.add(helper)
        width, turned = _turned(body, name)
        start = "0" if step.slice is step.slice.FIRST else f"{width} - {turned}"
        flip = ".T" if step.axis else ""
        return f"{helper}({part}{flip}, {width}, {turned}, {start}){flip}"


def _stack(theirs: list[str], body: object, name: str) -> str:
    before, _, after = theirs[0].rpartition("0")
    count = Scope().number(_count(body, name))
    return f'stacked(old, theirs + "{before}{{}}{after}", {count})'


def _count(body: object, name: str) -> Size:
    match body:
        case MixtureOfExperts():
            return body.experts.n_experts
        case Attention():
            return body.n_heads if "q_norm" in name else body.n_kv_heads
        case _:
            raise LoaderError(f"{name}: stacked outside experts and attention")


def _turned(body: object, name: str) -> tuple[str, str]:
    """Config's names of a head's width and of what turns of it."""
    number = Scope().number
    match body:
        case Attention() if body.position is not None:
            rotary = next(_rotary_dims(body))
            return number(body.head_dim), number(rotary)
        case LatentAttention():
            inside = name.partition(".")[2]
            up = body.q.up if isinstance(body.q, LowRank) else body.q
            first = body.nope_dim if inside.startswith(f"{up.name}.") else body.kv_rank
            return f"{number(first)} + {number(body.rotary_dim)}", number(body.rotary_dim)
        case _:
            raise LoaderError(f"{name}: turned outside attention")


def _rotary_dims(body: Attention) -> Iterator[Size]:
    if isinstance(body.position, Rotary):
        whole = isinstance(body.position.scaling, ProportionalScaling)
        yield body.head_dim if whole else body.position.rotary_dim
