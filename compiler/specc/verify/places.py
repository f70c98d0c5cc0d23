"""Where things stand in a live model, read from the IR: dropout sites and norms by module path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from specc.ir.attention import Attention, LatentAttention, QkNorm
from specc.ir.block import Sublayer, TokenInput
from specc.ir.feed_forward import Glu, MixtureOfExperts, Mlp
from specc.ir.heads import MaskedLanguageModelHead
from specc.ir.layers import Dropout, DropoutSite, Norm
from specc.ir.model import Model


@dataclass(frozen=True)
class DropoutPlace:
    """The attribute `name` of the module at `path`: `nn.Dropout`, or a float inside attention."""

    site: DropoutSite
    path: str
    name: str

    def set(self, live: nn.Module, p: float) -> None:
        """Make p the probability there. Raises where the file has no such dropout."""
        module = live.get_submodule(self.path)
        if self.site is DropoutSite.ATTENTION:
            if self.name not in vars(module):
                raise AttributeError(f"{self.path} has no attribute {self.name}")
            setattr(module, self.name, p)
        else:
            dropout = module.get_submodule(self.name)
            if not isinstance(dropout, nn.Dropout):
                raise TypeError(f"{self.path}.{self.name} is {type(dropout).__name__}")
            dropout.p = p


def dropout_places(model: Model) -> tuple[DropoutPlace, ...]:
    """Every place that drops values, each once."""
    return tuple(dict.fromkeys(_dropout_places(model)))


def _dropout_places(model: Model) -> Iterator[DropoutPlace]:
    for stack in model.stacks:
        if isinstance(stack.input, TokenInput) and stack.input.dropout is not None:
            yield DropoutPlace(stack.input.dropout.site, "", stack.input.dropout.name)
        for path, sublayer in sublayers(model, stack.name):
            for part in _dropouts(sublayer):
                if part is not None:
                    yield DropoutPlace(part.site, path, part.name)


def _dropouts(sublayer: Sublayer) -> tuple[Dropout | None, Dropout | None]:
    match sublayer.body:
        case Attention() | LatentAttention() as body:
            return body.dropout, body.output_dropout
        case Mlp() | Glu() as body:
            return body.hidden_dropout, body.output_dropout
        case MixtureOfExperts() as body:
            return None, body.output_dropout


def sublayers(model: Model, stack_name: str) -> Iterator[tuple[str, Sublayer]]:
    """(module path, sublayer) for every layer of a stack."""
    stack = model.stack(stack_name)
    for i, layer in enumerate(stack.layers):
        for sublayer in layer.block.sublayers:
            yield f"{stack.layers_name}.{i}.{sublayer.name}", sublayer


def norms(model: Model) -> dict[str, Norm]:
    """Module path -> norm, for every norm of the model."""
    return {path: norm for path, norm in _norms(model) if norm is not None}


def _norms(model: Model) -> Iterator[tuple[str, Norm | None]]:
    for stack in model.stacks:
        slots: list[Norm | None] = [stack.final_norm]
        if isinstance(stack.input, TokenInput):
            slots.append(stack.input.norm)
        for slot in slots:
            yield ("" if slot is None else slot.name), slot
        for path, sublayer in sublayers(model, stack.name):
            block = path.removesuffix(sublayer.name)
            for norm in (sublayer.pre, sublayer.post, sublayer.out):
                yield ("" if norm is None else block + norm.name), norm
            qk = sublayer.body.qk_norm if isinstance(sublayer.body, Attention) else None
            if isinstance(qk, QkNorm):
                yield f"{path}.{qk.q.name}", qk.q
                yield f"{path}.{qk.k.name}", qk.k
    for head in model.heads:
        if isinstance(head, MaskedLanguageModelHead):
            yield head.norm.name, head.norm


def mixtures(model: Model) -> Iterator[tuple[str, MixtureOfExperts]]:
    """(module path, part) of every mixture of experts."""
    for stack in model.stacks:
        for path, sublayer in sublayers(model, stack.name):
            if isinstance(sublayer.body, MixtureOfExperts):
                yield path, sublayer.body


def all_chosen(model: Model, trace: Mapping[str, Tensor]) -> bool:
    """Whether every expert was chosen by some token, as golden's trace tells."""
    return all(
        len(torch.unique(trace[f"{path}:experts"])) == part.experts.n_experts.value
        for path, part in mixtures(model)
    )
