"""Ties and materialising: what must survive `to`, deepcopy, saving, loading and the meta device."""

from __future__ import annotations

import io
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from math import nan

import torch
from torch import nn

from specc.ir.block import TokenInput
from specc.ir.heads import LanguageModelHead, MaskedLanguageModelHead, Tied
from specc.ir.model import Model
from specc.verify.checks.check import Check, counted
from specc.verify.live import reset
from specc.verify.metrics import differing_share, margin, worst_error
from specc.verify.report import Outcome, differs, failed, not_applicable, passed
from specc.verify.subject import Subject

LIMIT = 1e-12


def tied_embeddings(model: Model) -> tuple[str, ...]:
    """Names of embeddings that are used twice: by two stacks, or by a stack and a head."""
    uses = [s.input.embedding.name for s in model.stacks if isinstance(s.input, TokenInput)]
    for head in model.heads:
        match head:
            case LanguageModelHead(projection=Tied(embedding)):
                uses.append(embedding.name)
            case MaskedLanguageModelHead(projection=Tied(embedding)):
                uses.append(embedding.name)
            case _:
                pass
    return tuple(name for name in dict.fromkeys(uses) if uses.count(name) > 1)


@dataclass(frozen=True)
class Ties(Check):
    """A tied matrix is one tensor, and stays one when the model is moved, copied or loaded."""

    name: str = "ties"

    def run(self, subject: Subject) -> Outcome:
        """Change the tied matrix in place, after each way of moving a model, and ask golden."""
        tied = tied_embeddings(subject.small)
        if not tied:
            return not_applicable("the spec ties nothing")
        weights = dict(subject.weights())
        for name in tied:
            weights[f"{name}.weight"] = weights[f"{name}.weight"] * 1.5
        wanted = subject.answer("tied matrix changed", subject.plain, weights=weights)
        told = []
        for how, live in moved(subject):
            for name in tied:
                live.get_parameter(f"{name}.weight").data.mul_(1.5)
            error, output = worst_error(subject.outputs(live, subject.plain), wanted)
            if error > LIMIT:
                return failed(
                    f"{how}: after a change of {', '.join(tied)}, {output} is off by {error:.1e}"
                    f" (limit {LIMIT:.0e})",
                    margin(error, LIMIT),
                )
            told.append(how)
        return passed(f"{', '.join(tied)} stays tied: {', '.join(told)}")


def moved(subject: Subject) -> Iterator[tuple[str, nn.Module]]:
    """The stressed model, brought about in different ways."""
    live = subject.build_stressed()
    yield "as built", subject.build_stressed()
    moved_live = subject.build().to(torch.float32).to(torch.float64)
    reset(moved_live)
    moved_live.load_state_dict(live.state_dict())
    yield "after to", moved_live
    yield "after deepcopy", deepcopy(live)
    file = io.BytesIO()
    torch.save(live.state_dict(), file)
    file.seek(0)
    loaded = subject.build()
    loaded.load_state_dict(torch.load(file, weights_only=True))
    yield "after save and load", loaded
    materialised = from_meta(subject)
    materialised.load_state_dict(live.state_dict())
    yield "after meta", materialised


def from_meta(subject: Subject) -> nn.Module:
    """Built on the meta device, materialised full of nan, then reset."""
    with torch.device("meta"):
        live = subject.file.model_class(subject.file.config_class(**subject.numbers))
    live = live.to(torch.float64).to_empty(device="cpu")
    for tensor in (*live.parameters(), *live.buffers()):
        if tensor.is_floating_point():
            tensor.data.fill_(nan)
    reset(live)
    return live.eval()


@dataclass(frozen=True)
class MetaDevice(Check):
    """Built on meta and materialised, the model is the one that a plain build gives."""

    name: str = "meta_device"

    def run(self, subject: Subject) -> Outcome:
        """Fill everything with nan before the reset."""
        live = from_meta(subject)
        tensors = {**dict(live.named_parameters()), **dict(live.named_buffers())}
        for name, tensor in tensors.items():
            if not bool(tensor.isfinite().all()):
                return failed(f"reset_parameters leaves {name} as to_empty left it")
        differing = self._differs_from_plain(subject, live)
        if differing is not None:
            return differing
        live.load_state_dict(subject.weights())
        wanted = subject.outputs(subject.build_stressed(), subject.padded)
        found = subject.outputs(live, subject.padded)
        error, output = worst_error(found, wanted)
        if error > 0.0:
            text = f"{output} differs by {error:.1e} from a plain build's"
            return differs(text, differing_share(found, wanted))
        return passed(
            f"{counted(len(tensors), 'tensor')} equal a plain build's, outputs to the bit"
        )

    def _differs_from_plain(self, subject: Subject, live: nn.Module) -> Outcome | None:
        plain = subject.build()
        for model in (live, plain):
            torch.manual_seed(0)
            reset(model)
        wanted = {**dict(plain.named_parameters()), **dict(plain.named_buffers())}
        found = {**dict(live.named_parameters()), **dict(live.named_buffers())}
        for name, tensor in wanted.items():
            if not torch.equal(found[name], tensor):
                text = f"{name} differs from a plain build's under the same seed"
                return differs(text, differing_share({name: found[name]}, {name: tensor}))
        return None
