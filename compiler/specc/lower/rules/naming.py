"""Rules on the names that a spec chooses, once it is known which other names the file needs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from specc.diagnostics import Diagnostic, SpecPath
from specc.lower.names import Request, Settled
from specc.lower.rules.heads import module_names
from specc.lower.titles import camel_case, class_name
from specc.spec import schema

# The classes and imports that a generated file may hold; some carry a layer type's name in front.
_PER_TYPE = ("Block", "Attention", "CrossAttention", "FeedForward", "MixtureOfExperts")
_CLASSES = {
    *_PER_TYPE,
    *("Config", "View", "LayerCache", "Cache", "Output", "LayerNorm", "RMSNorm", "Tensor", "F"),
    *("SinusoidalTable", "RotaryTable", "Alibi", "NamedTuple", "Linear", "Encoder", "Decoder"),
}
# What a model may hold beside its classifiers.
_PER_STACK = ("layers", "embedding_norm", "position", "position_embedding", "norm")
_MEMBERS = {
    *_PER_STACK,
    *(f"{stack}_{name}" for stack in ("encoder", "decoder") for name in _PER_STACK),
    *("embedding", "source_embedding", "target_embedding", "type_embedding", "dropout"),
    *("rotary", "alibi", "head", "head_bias", "mlm_dense", "mlm_norm", "mlm_bias", "mlm_head"),
    *("config", "forward", "reset_parameters", "new_cache", "encode", "decode", "check_inputs"),
    *("generate", "stream"),
}


def name_diagnostics(
    spec: schema.Spec, heard: Iterable[Request], settled: Settled
) -> Iterator[Diagnostic]:
    """A class, a module or a number whose name another one has already."""
    yield from _class(spec)
    yield from _modules(spec)
    yield from _config(spec, heard, settled)


def _class(spec: schema.Spec) -> Iterator[Diagnostic]:
    types = {name for stack in spec.stacks for name in stack.types}
    taken = _CLASSES | {camel_case(name) + part for name in types for part in _PER_TYPE}
    name = class_name(spec)
    if name in taken:
        path: SpecPath = ("name",) if spec.class_name is None else ("class",)
        yield Diagnostic(
            path,
            f"the model's class would be called {name}, a name that the file has already",
            "give another one: `class: ...`",
        )


def _modules(spec: schema.Spec) -> Iterator[Diagnostic]:
    taken = set(_MEMBERS)
    for path, name in module_names(spec):
        if name in taken or name.startswith("rotary_"):
            yield Diagnostic(path, f"the model has another part called {name}", "take another name")
        taken.add(name)


def _config(spec: schema.Spec, heard: Iterable[Request], settled: Settled) -> Iterator[Diagnostic]:
    taken: dict[str, tuple[str, Hashable]] = {}
    for request in heard:
        if not request.path:
            continue
        name = settled[request.base, request.scope]
        base, value = taken.setdefault(name, (request.base, request.value))
        if value != request.value:
            yield Diagnostic(
                _type_path(spec, request),
                f"two numbers would be called {name} in Config ({base} and {request.base})",
                "rename the layer type",
            )


def _type_path(spec: schema.Spec, request: Request) -> SpecPath:
    prefix: SpecPath = (request.scope.stack,) if len(spec.stacks) > 1 else ()
    if not request.scope.layer_type:
        return request.path
    return (*prefix, "layers", "types", request.scope.layer_type)
