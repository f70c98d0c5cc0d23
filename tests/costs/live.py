"""Live modules to hold the closed forms against: built from their specs, called by their kind."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from specc.ir.block import FeatureInput
from specc.ir.calls import Call
from specc.ir.feed_forward import MixtureOfExperts
from specc.ir.model import Kind, Model
from specc.ir.walk import resize, walk
from specc.loading import Loaded, load
from specc.verify.sizes import reduced_numbers, reduced_sizes

ROOT = Path(__file__).resolve().parents[2]
SPECS = sorted([*(ROOT / "specs").glob("*.yaml"), *(ROOT / "tests" / "specs").glob("*.yaml")])


@cache
def loaded(spec: Path) -> Loaded:
    return load(spec)


def whole_size(spec: Path) -> nn.Module:
    """The module at its true size, without memory."""
    found = loaded(spec)
    with torch.device("meta"):
        made: nn.Module = found.Model(found.Config())
    return made.eval()


def small(spec: Path) -> tuple[Model, nn.Module]:
    """The IR and the module at a reduced size."""
    found = loaded(spec)
    sizes = reduced_sizes(found.model_ir)
    numbers = {**sizes, **reduced_numbers(found.model_ir, sizes)}
    torch.manual_seed(0)
    return resize(found.model_ir, numbers), found.Model(found.Config(**numbers)).eval()


def has_experts(model: Model) -> bool:
    return any(isinstance(part, MixtureOfExperts) for part in walk(model.stacks))


def ids(live: nn.Module, batch: int, length: int) -> Tensor:
    device = next(live.parameters()).device
    if device.type == "meta":
        return torch.empty(batch, length, dtype=torch.long, device=device)
    return torch.randint(5, (batch, length), generator=torch.Generator().manual_seed(0))


def features(live: nn.Module, model: Model, batch: int, length: int) -> Tensor:
    part = model.stacks[0].input
    assert isinstance(part, FeatureInput)
    shape = (batch, length, part.d_model.value)
    return torch.randn(shape, device=next(live.parameters()).device, requires_grad=True)


def run(live: nn.Module, model: Model, call: Call, room: object = None) -> object:
    """Forward, of tokens alone: what lies in the past is in the room already."""
    if model.kind is Kind.FEATURES:
        queries = features(live, model, call.batch, call.new)
        return live(queries, features(live, model, call.batch, call.source))
    given = {} if room is None else {"cache": room}
    tokens = ids(live, call.batch, call.new)
    if model.kind is not Kind.ENCODER_DECODER:
        return live(tokens, **given)
    if call.encodes:
        return live(ids(live, call.batch, call.source), tokens, **given)
    width = live.get_parameter("decoder_layers.0.cross_attention.q_proj.weight").size(1)
    memory = torch.zeros(
        call.batch, call.source, width, device=tokens.device, dtype=next(live.parameters()).dtype
    )
    return live.decode(tokens, memory, **given)


def counted(live: nn.Module, model: Model, call: Call, room: object = None) -> FlopCounterMode:
    """A forward pass under torch's counter.

    The counter knows no fused attention of a CPU and would count none of its work: the plain
    kernel multiplies the same matrices where it sees them.
    """
    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        run(live, model, call, room)
    return counter


def tensors(part: object) -> Iterator[Tensor]:
    """Every tensor that an object holds."""
    if isinstance(part, Tensor):
        yield part
    elif isinstance(part, list | tuple):
        for item in part:
            yield from tensors(item)
    elif hasattr(part, "__dict__"):
        yield from tensors(list(vars(part).values()))


def values(output: object) -> Iterator[Tensor]:
    """What forward returned: a tensor, or several under names."""
    yield from tensors(list(output) if isinstance(output, tuple) else output)
