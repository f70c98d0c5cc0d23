"""The modules of a model with what each holds and computes, equal modules of many layers as one
row.

A module here is a sublayer, a norm or a table: what stands on the model or on a block itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from specc.ir.attention import Attention, LatentAttention
from specc.ir.block import Block, Stack, TokenInput
from specc.ir.calls import Call
from specc.ir.feed_forward import MixtureOfExperts
from specc.ir.flops import head_work, linear_flops, sublayer_flops
from specc.ir.model import Model
from specc.ir.parameters import Parameter, parameters


class Role(Enum):
    """What kind of work a module does. Norms inside an attention or a head belong to that."""

    EMBEDDING = "embedding"
    ATTENTION = "attention"
    FEED_FORWARD = "feed-forward"
    NORM = "norm"
    HEAD = "head"


@dataclass(frozen=True)
class Row:
    """Equal modules. Numbers are those of one of them; `layers` is empty outside of layers.

    `active` are the parameters that one token passes: all but those of the experts that it did not
    choose. `flops` is the forward work of the whole call.
    """

    stack: str
    layer_type: str
    layers: tuple[int, ...]
    name: str
    role: Role
    parameters: int
    active: int
    flops: int

    @property
    def count(self) -> int:
        """How many modules the row stands for."""
        return len(self.layers) or 1

    @property
    def paths(self) -> tuple[str, ...]:
        """The module paths in the live model."""
        if not self.layers:
            return (self.name,)
        return tuple(f"{self.stack}.{i}.{self.name}" for i in self.layers)


def rows(model: Model, call: Call) -> tuple[Row, ...]:
    """Every module that holds parameters or multiplies matrices, from input to output.

    A tied output matrix is counted where it is kept, in the embedding; its work is a row of its
    own.
    """
    sizes = _sizes(model)
    tables: dict[str, Row] = {}
    found: list[Row] = []
    for stack in model.stacks:
        within = call.within(model, stack)
        for row in _input_rows(stack, within, sizes):
            shared = tables.get(row.name)
            tables[row.name] = row if shared is None else _joined(shared, row)
        found += _layer_rows(stack, within, sizes)
        if stack.final_norm is not None and stack.final_norm.name in sizes:
            found.append(_outside(stack.final_norm.name, Role.NORM, sizes))
    return (*tables.values(), *found, *_head_rows(model, call, sizes, {*tables}))


def _joined(one: Row, other: Row) -> Row:
    """A module that both stacks use."""
    return replace(one, flops=one.flops + other.flops)


def _head_rows(model: Model, call: Call, sizes: dict[str, int], taken: set[str]) -> Iterator[Row]:
    """What the heads add to the model, and the work of each of their maps."""
    taken |= {stack.final_norm.name for stack in model.stacks if stack.final_norm is not None}
    work: dict[str, int] = {}
    for head in model.heads:
        work |= head_work(head, call)
    own = [name for name in sizes if "." not in name and name not in taken]
    for name in dict.fromkeys([*own, *work]):
        yield _outside(name, Role.HEAD, sizes, work.get(name, 0))


def _sizes(model: Model) -> dict[str, int]:
    """Trained numbers by module path, `layers.0.attention` or `embedding`."""
    found: dict[str, int] = {}
    stacks = {stack.layers_name for stack in model.stacks}
    for parameter in parameters(model):
        if parameter.trained:
            module = _module(parameter, stacks)
            found[module] = found.get(module, 0) + parameter.count
    return found


def _module(parameter: Parameter, stacks: set[str]) -> str:
    steps = parameter.path.split(".")
    return ".".join(steps[:3]) if steps[0] in stacks else steps[0]


def _outside(name: str, role: Role, sizes: dict[str, int], flops: int = 0) -> Row:
    count = sizes.get(name, 0)
    return Row("", "", (), name, role, count, count, flops)


def _input_rows(stack: Stack, call: Call | None, sizes: dict[str, int]) -> Iterator[Row]:
    part = stack.input
    if not isinstance(part, TokenInput):
        return
    for table in (part.embedding, part.types, part.position):
        if table is not None and table.name in sizes:
            yield _outside(table.name, Role.EMBEDDING, sizes)
    if part.project is not None:
        linear = part.project.linear
        flops = 0 if call is None else linear_flops(linear, call.tokens)
        yield _outside(linear.name, Role.EMBEDDING, sizes, flops)
    if part.norm is not None and part.norm.name in sizes:
        yield _outside(part.norm.name, Role.NORM, sizes)


def _layer_rows(stack: Stack, call: Call | None, sizes: dict[str, int]) -> Iterator[Row]:
    layers = stack.layers
    for kind in stack.layer_types:
        places = tuple(i for i, layer in enumerate(layers) if layer == kind)
        if not places:
            continue
        for name, role in _parts(kind.block).items():
            count = sizes.get(f"{stack.layers_name}.{places[0]}.{name}", 0)
            flops, idle = _body(kind.block, name, call)
            if count or flops:
                label = kind.name if len(stack.layer_types) > 1 else ""
                where = (stack.layers_name, label, places, name, role)
                yield Row(*where, count, count - idle, flops)


def _parts(block: Block) -> dict[str, Role]:
    """The attributes of a block in the order in which x passes them."""
    found: dict[str, Role] = {}
    for part in block.sublayers:
        if part.pre is not None:
            found.setdefault(part.pre.name, Role.NORM)
        is_attention = isinstance(part.body, Attention | LatentAttention)
        found[part.name] = Role.ATTENTION if is_attention else Role.FEED_FORWARD
        for later in (part.post, part.layer_scale, part.out):
            if later is not None:
                found.setdefault(later.name, Role.NORM)
    return found


def _body(block: Block, name: str, call: Call | None) -> tuple[int, int]:
    """The work of that attribute, and how many of its parameters a token does not pass."""
    for part in block.sublayers:
        if part.name == name:
            flops = 0 if call is None else sublayer_flops(part, call)
            body = part.body
            return flops, idle_parameters(body) if isinstance(body, MixtureOfExperts) else 0
    return 0, 0


def idle_parameters(part: MixtureOfExperts) -> int:
    """The parameters of the experts that a token does not choose."""
    model, hidden = part.experts.d_model.value, part.experts.d_ff.value
    one = 3 * model * hidden
    if part.experts.bias:
        one += 2 * hidden + model
    return (part.experts.n_experts.value - part.router.top_k.value) * one
