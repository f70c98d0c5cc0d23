"""The lines of the model's `reset_parameters`: one loop over kinds of modules, then what stands
out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specc.ir.block import Embedding
from specc.ir.exhaustive import assert_never
from specc.ir.feed_forward import Experts
from specc.ir.init import FanInUniform, Fill, Init, LogSqrt, Normal, StandardNormal, XavierUniform
from specc.ir.layers import Linear
from specc.ir.model import Model
from specc.ir.positions import LearnedPosition
from specc.ir.walk import walk


@dataclass(frozen=True)
class Outlier:
    """Linear maps of one stack that are not filled as the others are."""

    layers_name: str
    linears: tuple[Linear, ...]
    init: Init


def reset_lines(model: Model, own: Sequence[str], fills: Sequence[str]) -> list[str]:
    """`own` are the classes that can reset themselves; `fills` fill the model's own parameters."""
    linears = [part for part in walk(model.stacks + model.heads) if isinstance(part, Linear)]
    tables = [p for p in walk(model.stacks) if isinstance(p, Embedding | LearnedPosition)]
    general = next((x for x in linears if not _stands_out(x)), linears[0])
    biased = [linear for linear in linears if linear.bias]
    branches: list[tuple[list[str], list[str]]] = [
        (["nn.Linear"], _linear(general, bool(biased), len(biased) == len(linears)))
    ]
    if tables:
        branches.append((["nn.Embedding"], [_fill(tables[0].init, "module.weight")]))
    if own:
        branches.append((list(own), ["module.reset_parameters()"]))
    found = ["for module in self.modules():", *_branches(_merged(branches))]
    return found + _outliers(model) + list(fills)


def _stands_out(linear: Linear) -> bool:
    return _is_special(linear.init)


def _is_special(init: Init) -> bool:
    return isinstance(init, Fill) or (isinstance(init, Normal) and init.depth is not None)


def _linear(linear: Linear, any_bias: bool, all_biased: bool) -> list[str]:
    if isinstance(linear.init, FanInUniform):
        return ["module.reset_parameters()"]
    found = [_fill(linear.init, "module.weight")]
    if all_biased:
        found.append("nn.init.zeros_(module.bias)")
    elif any_bias:
        found += ["if module.bias is not None:", "    nn.init.zeros_(module.bias)"]
    return found


def _fill(init: Init, target: str) -> str:
    match init:
        case Normal(std, None):
            return f"nn.init.normal_({target}, std=self.config.{std.name})"
        case Normal(std, depth):
            name = depth.name if depth is not None else ""
            scaled = f"self.config.{std.name} / math.sqrt(2 * self.config.{name})"
            return f"nn.init.normal_({target}, std={scaled})"
        case XavierUniform():
            return f"nn.init.xavier_uniform_({target})"
        case Fill(0.0):
            return f"nn.init.zeros_({target})"
        case Fill(value):
            return f"nn.init.constant_({target}, {value})"
        case StandardNormal() | FanInUniform():
            return "module.reset_parameters()"
        case LogSqrt():
            raise TypeError("a log temperature is filled by its attention")
        case _:
            assert_never(init)


def _merged(branches: list[tuple[list[str], list[str]]]) -> list[tuple[list[str], list[str]]]:
    """Branches of equal bodies as one."""
    found: list[tuple[list[str], list[str]]] = []
    for classes, body in branches:
        same = next((known for known in found if known[1] == body), None)
        if same is None:
            found.append((list(classes), body))
        else:
            same[0].extend(classes)
    return found


def _branches(branches: list[tuple[list[str], list[str]]]) -> list[str]:
    found: list[str] = []
    for i, (classes, body) in enumerate(branches):
        names = classes[0] if len(classes) == 1 else f"({', '.join(classes)})"
        found.append(f"    {'elif' if i else 'if'} isinstance(module, {names}):")
        found += [f"        {line}" for line in body]
    return found


def _outliers(model: Model) -> list[str]:
    """Residual outputs that start smaller, or at zero, by the names of their maps."""
    groups: dict[Init, dict[str, list[str]]] = {}
    for stack in model.stacks:
        for part in walk(stack.layer_types):
            for init, name in _special_tensors(part):
                groups.setdefault(init, {}).setdefault(stack.layers_name, []).append(name)
    found: list[str] = []
    for init, by_stack in groups.items():
        suffixes = tuple(dict.fromkeys(s for found_names in by_stack.values() for s in found_names))
        condition = f"name.endswith({_strings(suffixes)})"
        if len(by_stack) < len(model.stacks):
            condition = f'name.startswith("{next(iter(by_stack))}.") and {condition}'
        if not found:
            found.append("for name, parameter in self.named_parameters():")
        found.append(f"    {'elif' if len(found) > 1 else 'if'} {condition}:")
        found.append(f"        {_fill(init, 'parameter')}")
    return found


def _special_tensors(part: object) -> Iterator[tuple[Init, str]]:
    """The tensors of one map, or of all experts' second maps, by the ends of their names."""
    if isinstance(part, Linear) and _stands_out(part):
        yield part.init, f"{part.name}.weight"
        if part.bias and isinstance(part.init, Fill):
            yield part.init, f"{part.name}.bias"
    elif isinstance(part, Experts) and _is_special(part.down_init):
        yield part.down_init, f".{part.down}"


def _strings(values: Sequence[str]) -> str:
    quoted = [f'"{value}"' for value in values]
    return quoted[0] if len(quoted) == 1 else f"({', '.join(quoted)})"
