"""The ledger held against the spec: keys must name fields that exist here, choices must equal what
the spec says. Also `--strict`: which architectural values no entry speaks of, and which entries
say too little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from specc.diagnostics import Diagnostic, SpecPath, did_you_mean, dotted
from specc.spec import shapes
from specc.spec.effective import EffectiveField
from specc.spec.layer import PARTS
from specc.spec.schema import Spec
from specc.spec.tree import Mapping, Node, Plain, Scalar, Sequence, at, is_null, leaves

_STACK_FIELDS = ("n_layers", "final_norm")


def check_ledger(authored: Mapping, resolved: Mapping) -> Iterator[Diagnostic]:
    """Every entry that does not fit the spec."""
    ledger = authored.get("ledger")
    if not isinstance(ledger, Mapping):
        return
    for entry in ledger.entries:
        path = steps(entry.key)
        found = values_at(resolved, path)
        place = entry.position or entry.value.mark.position
        if not found:
            yield Diagnostic(("ledger", entry.key), *_no_field(entry.key, path), place)
            continue
        choice = entry.value.get("choice") if isinstance(entry.value, Mapping) else None
        if isinstance(choice, Scalar) and choice.value is not None:
            yield from _choice(entry.key, choice, found)


def _choice(key: str, choice: Scalar, found: list[Node]) -> Iterator[Diagnostic]:
    for node in found:
        if not _equal(node, choice):
            message = f"the ledger chooses {choice.text} for {key}, but the spec has {_told(node)}"
            hint = "the ledger never assigns: change the spec or the choice"
            yield Diagnostic(("ledger", key, "choice"), message, hint, choice.mark.position)
            return


def _told(node: Node) -> str:
    """A value and who set it."""
    origin = {"body": "written", "style": "from the style", "default": "the default"}
    where = origin.get(node.mark.origin, "derived")
    if isinstance(node, Mapping):
        inner = {key[-1]: leaf.value for key, leaf in leaves(node) if isinstance(leaf, Scalar)}
        listing = ", ".join(f"{key}: {_literal(value)}" for key, value in inner.items())
        return f"{node.word('kind') or listing} ({where})"
    if isinstance(node, Sequence):
        return f"{[item.value for item in node.items if isinstance(item, Scalar)]} ({where})"
    return f"{_literal(node.value)} ({where})"


def _literal(value: Plain) -> str:
    """A value as YAML has it."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    return str(value).replace("e-0", "e-") if isinstance(value, float) else str(value)


def _no_field(key: str, path: SpecPath) -> tuple[str, str | None]:
    names = tuple(step for step in path if isinstance(step, str))
    if shapes.shape_at(shapes.spec(), names) is not None:
        return f"the ledger speaks of {key}, which this spec does not have", None
    hint = did_you_mean(key, _known_paths())
    return f"the ledger speaks of {key}, which is no field", hint


def _known_paths() -> list[str]:
    found: list[str] = []

    def visit(shape: shapes.Shape, path: SpecPath) -> None:
        if isinstance(shape, shapes.Items):
            visit(shape.item, path)
        elif isinstance(shape, shapes.Variants):
            visit(shape.any_kind, path)
        elif isinstance(shape, shapes.Record):
            for field in shape.fields:
                found.append(dotted((*path, field.name)))
                if field.name != "ledger":
                    visit(field.shape, (*path, field.name))

    visit(shapes.spec(), ())
    return found


def steps(key: str) -> SpecPath:
    """`head[0].tied` -> ("head", 0, "tied")."""
    parts = re.findall(r"\[(\d+)\]|([^.\[\]]+)", key)
    return tuple(int(index) if index else name for index, name in parts)


def values_at(resolved: Mapping, path: SpecPath) -> list[Node]:
    """What stands at an authored path: one node, or one for each layer that the path speaks of."""
    found = [node for node in _candidates(resolved, path) if node is not None]
    written_here = [node for node in found if node.mark.written == path]
    return written_here or found


def _candidates(resolved: Mapping, path: SpecPath) -> Iterator[Node | None]:
    stacks = resolved.get("stacks")
    if not path or not isinstance(stacks, Sequence):
        return
    named = [s for s in stacks.items if isinstance(s, Mapping)]
    first, rest = path[0], path
    if first in ("encoder", "decoder") and len(named) > 1:
        named = [stack for stack in named if stack.word("name") == first]
        rest = path[1:]
    if not rest:
        yield from named
    elif rest[0] in (*PARTS, *_STACK_FIELDS, "layers"):
        for stack in named:
            yield from _in_stack(stack, rest)
    elif first == "head":
        yield from _heads(resolved, path)
    else:
        yield at(resolved, ("class_name", *path[1:]) if first == "class" else path)


def _in_stack(stack: Mapping, path: SpecPath) -> Iterator[Node | None]:
    if path[0] in _STACK_FIELDS:
        yield at(stack, path)
    elif path[0] == "layers":
        yield at(stack, path[1:] or ("types",))
    else:
        for entry in stack.mapping("types").entries:
            found = at(entry.value, path)
            if found is not None and found.mark.written:
                yield found


def _heads(resolved: Mapping, path: SpecPath) -> Iterator[Node | None]:
    heads = resolved.get("heads")
    if not isinstance(heads, Sequence):
        return
    if len(path) > 1 and isinstance(path[1], int):
        yield at(heads, path[1:])
        return
    for head in heads.items:
        yield at(head, path[1:])


def _equal(node: Node, choice: Scalar) -> bool:
    """Is that the value, as any short form would say it?"""
    wanted = choice.value
    if isinstance(node, Mapping):
        inner = [leaf for _, leaf in leaves(node)]
        same = all(isinstance(leaf, Scalar) and _same(leaf.value, wanted) for leaf in inner)
        kind = node.word("kind")
        is_there = kind is not None and (wanted is True or wanted == kind)
        return is_there or (bool(inner) and same)
    if isinstance(node, Sequence):
        words = [str(item.value) for item in node.items if isinstance(item, Scalar)]
        return str(wanted).replace(" ", "") == ",".join(words)
    if is_null(node):
        return wanted in (False, "none", "null")
    return _same(node.value, wanted) or (bool(node.text) and node.text == choice.text)


def _same(value: Plain, wanted: Plain) -> bool:
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    return value == wanted or (value == "one" and wanted == 1)


# What --strict asks.

_NOT_ARCHITECTURE = frozenset(
    ("specc", "name", "title", "class", "paper", "source", "style", "features", "outputs", "ledger")
)
# Defaults that papers disagree on, so that a silent one may be a silent mistake.
_DEFAULTS_THAT_MATTER = (
    r"norm\.(kind|eps|cast)",
    r"embedding\.scale",
    r"final_norm",
    r"(attention|cross_attention)\.(scale|bias\..*)",
    r"feed_forward\.(kind|bias\..*)",
    r"position\.(kind|layout|frequency|theta|offset)",
    r"head(\[\d+\])?\.(kind|tied|bias)",
    r"init\.(kind|std|outputs)",
)
_MATTERS = re.compile("|".join(rf"(.*\.)?{each}" for each in _DEFAULTS_THAT_MATTER))


def strict(
    fields: tuple[EffectiveField, ...], spec: Spec, authored: Mapping
) -> Iterator[Diagnostic]:
    """What `--strict` refuses: values that no entry covers, and entries that say too little."""
    for field in fields:
        if field.entry is None and _needs_entry(field, spec):
            who = {"body": "written", "style": "said by the style"}.get(field.origin, "a default")
            message = f"{field.path} is {who}, and the ledger does not say where it comes from"
            hint = f"ledger: {{{field.path}: {{status: stated, at: ...}}}}"
            yield Diagnostic(steps(field.path), message, hint, field.position)
    for key, entry in spec.ledger.items():
        node = at(authored, ("ledger", key))
        place = node.mark.position if node is not None else None
        if entry.status in ("stated", "figure", "official_code") and entry.at is None:
            message = f"{key} is said to be '{entry.status}', but not where"
            yield Diagnostic(
                ("ledger", key), message, "add `at: ...` (section, figure, file)", place
            )
        if entry.status in ("unstated", "deviates") and entry.because is None:
            message = f"{key} is '{entry.status}', but not why it was chosen"
            yield Diagnostic(("ledger", key), message, "add `because: ...`", place)


def _needs_entry(field: EffectiveField, spec: Spec) -> bool:
    if field.steps[0] in _NOT_ARCHITECTURE:
        return False
    if field.origin in ("body", "style"):
        return True
    if field.path == "init.std" and spec.init.kind != "normal" and spec.embedding is None:
        return False  # it would be the embedding's only
    return field.origin == "default" and _MATTERS.fullmatch(field.path) is not None
