"""Checks that need no arithmetic: imports, Config, parameters by name, shape and number."""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, fields

import torch
from torch import Tensor, nn

from specc.ir.block import Embedding
from specc.ir.model import Model
from specc.ir.parameters import parameter_count, parameters
from specc.ir.sizes import Size, Vector
from specc.ir.walk import config_fields, walk
from specc.verify.checks.check import Check, counted
from specc.verify.report import Outcome, failed, passed
from specc.verify.subject import Subject


@dataclass(frozen=True)
class Imports(Check):
    """The file stands alone: it needs torch and the standard library."""

    name: str = "imports"

    def run(self, subject: Subject) -> Outcome:
        """Read the import statements."""
        found = sorted(_imported(subject.file.text))
        foreign = [name for name in found if name not in sys.stdlib_module_names | {"torch"}]
        if foreign:
            return failed(f"the file imports {', '.join(foreign)}")
        return passed(f"imports {', '.join(found)}")


def _imported(text: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add("." if node.module is None else node.module.split(".")[0])
    return names


@dataclass(frozen=True)
class ConfigDefaults(Check):
    """Config holds the spec's numbers, all of them, under their names."""

    name: str = "config"

    def run(self, subject: Subject) -> Outcome:
        """Compare names and defaults with the IR."""
        wanted = {
            f.name: f.values if isinstance(f, Vector) else f.value
            for f in config_fields(subject.model)
        }
        config = subject.file.config_class()
        found = {f.name: vars(config)[f.name] for f in fields(config)}
        for name in [*wanted, *found]:
            if name not in found:
                return failed(f"Config has no {name} (the spec says {wanted[name]})")
            if name not in wanted:
                return failed(f"Config has {name}, which the spec does not know")
            if found[name] != wanted[name]:
                return failed(f"Config.{name} is {found[name]}, the spec says {wanted[name]}")
        n_sizes = sum(isinstance(f, Size) for f in config_fields(subject.model))
        n_others = len(wanted) - n_sizes
        return passed(
            f"{counted(n_sizes, 'size')} and {counted(n_others, 'constant')} as the spec says"
        )


@dataclass(frozen=True)
class ParameterCount(Check):
    """The true model has as many parameters as the closed form, and as the paper, say."""

    name: str = "parameter_count"

    def run(self, subject: Subject) -> Outcome:
        """Build at the true size on the meta device."""
        with torch.device("meta"):
            live = subject.file.model_class()
        count = sum(parameter.numel() for parameter in live.parameters())
        wanted = parameter_count(subject.model)
        if count != wanted:
            text = f"{count:,} parameters, the closed form gives {wanted:,}"
            return failed(text + _tie_hint(subject.model, count - wanted))
        claim = None if subject.model.paper is None else subject.model.paper.claim
        if claim is None:
            return passed(f"{count:,} parameters, as the closed form; no claim to compare")
        gap = count - claim.parameters
        text = (
            f"{count:,} parameters; the paper says {claim.parameters:,},"
            f" {gap / claim.parameters:+.2%} (limit {claim.tolerance:.2%})"
        )
        if abs(gap) > claim.tolerance * claim.parameters:
            return failed(text + _tie_hint(subject.model, gap))
        return passed(text)


def _tie_hint(model: Model, gap: int) -> str:
    """A gap of exactly one vocabulary matrix has one usual reason."""
    for part in walk(model.stacks):
        if isinstance(part, Embedding):
            rows, width = part.rows, part.width
            if gap == rows.value * width.value:
                return f"; the gap is exactly {rows.name} * {width.name}: a tie is missing"
            if gap == -rows.value * width.value:
                return f"; the gap is exactly -{rows.name} * {width.name}: a tie too many"
    return ""


@dataclass(frozen=True)
class StateDict(Check):
    """The state dict has exactly the spec's parameters, and loads strictly."""

    name: str = "state_dict"

    def run(self, subject: Subject) -> Outcome:
        """Compare paths and shapes; load with one tensor more and with tensors missing."""
        live = subject.build()
        wanted = {p.path: p.shape for p in parameters(subject.small)}
        found = {path: tuple(tensor.shape) for path, tensor in live.state_dict().items()}
        differs = [
            f"{path}: {found.get(path, 'missing')}, the spec says {wanted.get(path, 'nothing')}"
            for path in [*wanted, *found]
            if found.get(path) != wanted.get(path)
        ]
        if differs:
            return failed(f"{counted(len(differs), 'difference')}; the first: {differs[0]}")
        weights = subject.weights()
        live.load_state_dict(weights)
        if not _refuses(live, {**weights, "not_a_parameter": torch.zeros(1)}):
            return failed("an unknown tensor is loaded without an error")
        needed = live.load_state_dict({}, strict=False).missing_keys
        spared = [path for path in weights if path not in needed]
        if spared or not _refuses(live, dict(list(weights.items())[1:])):
            return failed(f"a state dict without {[*spared, *weights][0]} loads without an error")
        return passed(f"{counted(len(wanted), 'tensor')}; unknown and missing ones are refused")


def _refuses(live: nn.Module, weights: dict[str, Tensor]) -> bool:
    try:
        live.load_state_dict(weights)
    except RuntimeError:
        return True
    return False
