"""IR + weights + inputs -> outputs, with every named intermediate in the order of computation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import torch
from torch import Tensor

from specc.golden.heads import head
from specc.golden.inputs import Inputs, check_capacity, check_inputs, needed_tensor
from specc.golden.products import Sequence
from specc.golden.scope import Scope
from specc.golden.stacks import stack, token_features
from specc.ir.attention import Attention
from specc.ir.block import FeatureInput, Stack, TokenInput
from specc.ir.exhaustive import assert_never
from specc.ir.layers import Dropout, DropoutSite
from specc.ir.model import Kind, Model
from specc.ir.parameters import parameters
from specc.ir.walk import walk


@dataclass(frozen=True)
class Result:
    """What a run gives.

    outputs: each head's tensor by its output name; if the model returns them, "attention_weights"
        -> a tuple of [B, H, T, S] in the order of `Inputs.attention_layers`.
    trace: module path -> that module's output ("layers.0.attention"), and "path:name" for what
        attention computes on its way (:q :k :weights :heads). A second call is "path#2".
    """

    outputs: dict[str, Any]
    trace: dict[str, Tensor]


def run(
    model: Model,
    weights: Mapping[str, Tensor],
    inputs: Inputs,
    dropped: DropoutSite | None = None,
) -> Result:
    """Interpret the model in the dtype of its weights; `dropped` is a site where dropout has p = 1.

    Raises ValueError for weights or inputs that do not fit, and for a site that drops nothing.
    """
    dtype = check_weights(model, weights)
    check_inputs(model, inputs)
    if dropped is not None:
        _check_site(model, dropped)
    scope = Scope(weights, {}, dropped)
    last = _last_features(model, scope, inputs, dtype)
    outputs: dict[str, Any] = {part.output_name: head(part, scope, last) for part in model.heads}
    if model.attention_weights:
        outputs["attention_weights"] = _attention_weights(model.stacks[-1], scope, inputs)
    elif inputs.attention_layers:
        raise ValueError("the model does not return attention weights")
    return Result(outputs, scope.trace)


def check_weights(model: Model, weights: Mapping[str, Tensor]) -> torch.dtype:
    """The one dtype of the weights; ValueError where a name, a shape or a dtype does not fit.

    Buffers that are not trained, such as a selection bias, are weights too.
    """
    shapes = {parameter.path: parameter.shape for parameter in parameters(model)}
    for path in shapes:
        if path not in weights:
            unused = [name for name in weights if name not in shapes]
            raise ValueError(f"missing weight {path}{_nearest(path, unused)}")
    for path, tensor in weights.items():
        if path not in shapes:
            raise ValueError(f"unknown weight {path}{_nearest(path, list(shapes))}")
        if tuple(tensor.shape) != shapes[path]:
            raise ValueError(f"{path} has shape {tuple(tensor.shape)}, not {shapes[path]}")
    dtypes = {tensor.dtype for tensor in weights.values()}
    if len(dtypes) != 1:
        raise ValueError(f"weights must have one dtype, got {sorted(map(str, dtypes))}")
    return dtypes.pop()


def _nearest(path: str, names: list[str]) -> str:
    found = get_close_matches(path, names, n=1)
    return f" (nearest: {found[0]})" if found else ""


def _check_site(model: Model, dropped: DropoutSite) -> None:
    parts = walk(model.stacks)
    if not any(isinstance(part, Dropout) and part.site is dropped for part in parts):
        raise ValueError(f"the model drops nothing at {dropped.value}")


def _last_features(model: Model, scope: Scope, inputs: Inputs, dtype: torch.dtype) -> Sequence:
    match model.kind:
        case Kind.DECODER | Kind.ENCODER:
            tokens = needed_tensor(inputs.tokens, "tokens")
            check_capacity(model, inputs.capacity, tokens.shape[1])
            (only,) = model.stacks
            x = _embedded(only, scope, tokens, inputs.token_mask, inputs.token_types)
            x = replace(x, capacity=inputs.capacity)
            return replace(x, features=stack(only, scope, x, None))
        case Kind.ENCODER_DECODER:
            encoder, decoder = model.stack("encoder"), model.stack("decoder")
            source = needed_tensor(inputs.source, "source")
            x = _embedded(encoder, scope, source, inputs.source_mask, None)
            memory = replace(x, features=stack(encoder, scope, x, None))
            target = needed_tensor(inputs.target, "target")
            check_capacity(model, inputs.capacity, target.shape[1])
            y = _embedded(decoder, scope, target, inputs.target_mask, None)
            y = replace(y, capacity=inputs.capacity)
            return replace(y, features=stack(decoder, scope, y, memory))
        case Kind.FEATURES:
            (only,) = model.stacks
            queries = needed_tensor(inputs.queries, "queries").to(dtype)
            rows = needed_tensor(inputs.memory, "memory").to(dtype)
            check_capacity(model, inputs.capacity, queries.shape[1])
            memory = Sequence(rows, inputs.memory_mask)
            return Sequence(stack(only, scope, Sequence(queries, None), memory), None)
        case _:
            assert_never(model.kind)


def _embedded(
    part: Stack, scope: Scope, tokens: Tensor, real: Tensor | None, types: Tensor | None
) -> Sequence:
    match part.input:
        case TokenInput():
            return Sequence(token_features(part.input, scope, tokens, real, types), real)
        case FeatureInput():
            raise ValueError(f"the {part.name} reads features, not tokens")
        case _:
            assert_never(part.input)


def _attention_weights(part: Stack, scope: Scope, inputs: Inputs) -> tuple[Tensor, ...]:
    return tuple(_weights_of(part, scope, i) for i in inputs.attention_layers)


def _weights_of(part: Stack, scope: Scope, i: int) -> Tensor:
    if not 0 <= i < len(part.layers):
        raise ValueError(f"there is no layer {i} among {len(part.layers)}")
    for sublayer in part.layers[i].block.sublayers:
        if isinstance(sublayer.body, Attention) and sublayer.body.gives_weights:
            return scope.trace[f"{part.layers_name}.{i}.{sublayer.name}:weights"]
    raise ValueError(f"layer {i} returns no attention weights")
