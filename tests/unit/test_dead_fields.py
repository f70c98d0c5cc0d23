"""No field of the language is dead: of two values somewhere, each gives another generated file.

Every leaf of the schema's shapes is set to several values in the specs of the repository, with the
kind that it belongs to; two of them must be accepted and must give different bytes. What only
stands in the spec is named in `SILENT`, with the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
from ruamel.yaml import YAML

from specc.diagnostics import SpecError
from specc.lower import lower
from specc.render import render
from specc.spec import load, shapes
from specc.spec.shapes import Shape
from tests.specs import PUBLISHED, SMALL, spec_path

BASES = (*SMALL, *sorted(path.stem for path in PUBLISHED.glob("*.yaml")))
# Their leaves are those of the base parts again: merging is tested in spec/.
OVERRIDES = ("cross_attention", "encoder", "decoder", "layers")
NUMBERS = (1, 2, 4, 6, 8, 16, 24, 32, 64, 96)
REALS = (0.25, 0.5, 0.001, 2.0, 3.0)
NAMES = {
    "class": ("FirstName", "SecondName"),
    "file": ("first_name", "second_name"),
    "output": ("first_name", "second_name"),
}

# Where arbitrary values do not do.
OTHER: dict[str, list[Any]] = {
    "feed_forward": [
        {"kind": kind, "activation": "silu", "d_ff": 8, **more}
        for kind, more in (("mlp", {}), ("glu", {}), ("experts", {"n_experts": 4, "top_k": 2}))
    ],
    "style": [f"features, {place}, rms norm, relu" for place in ("pre-norm", "post-norm")],
}

SILENT = {
    "specc": "the version of the language, of which there is one",
    "paper.authors": "for the reader of the spec; the file cites the title",
    "paper.year": "for the reader of the spec; the file cites the title",
    "paper.claims.tolerance": "a limit that verify holds the count against",
    "source.huggingface": "where weights are: an importer's",
    "source.layout": "how weights are stored: a converter's",
    "ledger.*.choice": "must equal the field's own value, which stands in the file",
}


# Rules let these change together only: all maps of an expert have a bias, or none has.
TOGETHER = ("feed_forward<experts>.bias.up", "feed_forward<experts>.bias.down")


@dataclass(frozen=True)
class Leaf:
    """A field that holds one value. `kinds` is the kind of each mapping on the way that has one."""

    path: tuple[str, ...]
    kinds: tuple[str | None, ...]
    shape: Shape
    nullable: bool

    @property
    def name(self) -> str:
        told = [s if k is None else f"{s}<{k}>" for s, k in zip(self.path, self.kinds, strict=True)]
        return ".".join(told)

    @property
    def plain(self) -> str:
        return ".".join(self.path)


def leaves() -> Iterator[Leaf]:
    """Every leaf, those of overrides left out."""
    for field in shapes.spec().fields:
        if field.name not in OVERRIDES:
            yield from _below(field.shape, (field.name,), (None,), field.nullable)


def _below(
    shape: Shape, path: tuple[str, ...], kinds: tuple[str | None, ...], nullable: bool
) -> Iterator[Leaf]:
    inner: tuple[Shape, ...] = ()
    match shape:
        case shapes.Record():
            yield from _fields(shape, path, kinds)
            return
        case shapes.Variants(records=records):
            inner = records
        case shapes.Options(shapes=options):
            inner = tuple(option for option in options if isinstance(option, shapes.Record))
        case shapes.Items(item=shapes.Record() | shapes.Variants()):
            yield from _below(shape.item, path, kinds, nullable)
            return
        case shapes.Table(value=value):
            yield from _below(value, (*path, "*"), (*kinds, None), nullable)
            return
    yield Leaf(path, kinds, shape, nullable)
    for each in inner:
        yield from _below(each, path, kinds, nullable)


def _fields(
    record: shapes.Record, path: tuple[str, ...], kinds: tuple[str | None, ...]
) -> Iterator[Leaf]:
    kind = record.kinds[0] if len(record.kinds) == 1 else None
    for field in record.fields:
        if kind is None or field.name != "kind":
            own = (*kinds[:-1], kind, None)
            yield from _below(field.shape, (*path, field.name), own, field.nullable)


LEAVES = tuple(leaves())


def values(shape: Shape, nullable: bool) -> list[Any]:
    found: list[Any] = []
    match shape:
        case shapes.Words(words=words):
            found = list(words)
        case shapes.Whole():
            found = list(NUMBERS)
        case shapes.Real():
            found = list(REALS)
        case shapes.Flag():
            found = [True, False]
        case shapes.Text() | shapes.Anything():
            found = ["first text", "second text"]
        case shapes.Name(role=role):
            found = list(NAMES[role])
        case shapes.Options(shapes=options):
            found = [v for option in options for v in values(option, False)]
        case shapes.Items(item=item):
            words = values(item, False)
            found = [words[:n] for n in range(len(words) + 1)] + [words[-1:]]
        case shapes.Variants():
            found = [{"kind": kind} for kind in shape.kinds]
    return found + [None] * nullable


@cache
def base(name: str, with_ledger: bool) -> dict[str, Any]:
    tree = YAML(typ="safe").load(spec_path(name).read_text(encoding="utf-8"))
    if not with_ledger:
        tree.pop("ledger", None)
    claims = tree.get("paper", {}).get("claims")
    if claims:
        claims["parameters"] = int(claims["parameters"])  # written 65e6, which JSON would spell out
    return tree


def edited(tree: dict[str, Any], leaf: Leaf, value: Any) -> dict[str, Any]:
    """The tree with the value there, in mappings of the leaf's kinds."""
    tree = deepcopy(tree)
    place: Any = tree
    for step, kind in zip(leaf.path[:-1], leaf.kinds[:-1], strict=True):
        key = entry(place, leaf.path[-1]) if step == "*" else step
        inner = of_kind(place.get(key), kind)
        place[key] = inner
        place = next(p for p in inner if p.get("kind") == kind) if type(inner) is list else inner
    place[leaf.path[-1]] = value
    return tree


def of_kind(inner: Any, kind: str | None) -> Any:
    """What stands there, spelled out as a mapping; a new one if it is of another kind."""
    if isinstance(inner, list):
        return inner if any(p.get("kind") == kind for p in inner) else {"kind": kind}
    if isinstance(inner, str):
        inner = {"kind": inner}
    if not isinstance(inner, dict):
        inner = {}
    if kind is None:
        return inner
    if list(inner) == [kind]:
        return {"kind": kind, **inner[kind]}
    return {"kind": kind, **inner} if inner.get("kind", kind) == kind else {"kind": kind}


def entry(ledger: dict[str, Any], field: str) -> str:
    """A ledger's entry that may have the field."""
    wanted = {"unstated"} if field in ("because", "alternatives") else {"stated", "figure"}
    return next(
        (k for k, v in ledger.items() if v["status"] in wanted), next(iter(ledger), "norm.eps")
    )


def text_of(tree: dict[str, Any]) -> str | None:
    """The file of a spec, or None where it is refused."""
    try:
        return render(lower(load(json.dumps(tree).encode(), "spec.yaml").spec))
    except SpecError:
        return None


def standing(name: str, leaf: Leaf) -> Any:
    """What a spec says there; None where it says nothing."""
    place: Any = base(name, leaf.path[0] == "ledger")
    for step in leaf.path:
        place = place.get(step) if isinstance(place, dict) else None
    return place


def candidates(name: str, leaf: Leaf) -> Iterator[Any]:
    """Values to try in one spec: all that the shape tells of, and what other specs say there."""
    yield from OTHER.get(leaf.plain) or values(leaf.shape, leaf.nullable)
    now = standing(name, leaf)
    if isinstance(now, list) and all(isinstance(each, int | float) for each in now):
        yield from (now, [2 * each for each in now])  # the length must stay
    if isinstance(leaf.shape, shapes.Variants):
        found = (standing(other, leaf) for other in BASES)
        yield from {each.get("kind"): each for each in found if isinstance(each, dict)}.values()


def is_alive(leaf: Leaf, bases: int = len(BASES)) -> bool:
    for name in sorted(BASES, key=lambda each: standing(each, leaf) is None)[:bases]:
        seen: set[str] = set()
        for value in candidates(name, leaf):
            tree = base(name, leaf.path[0] == "ledger")
            text = text_of(edited(tree, leaf, value))
            if text is not None:
                seen.add(text)
            if len(seen) > 1:
                return True
    return False


APART = {*SILENT, *TOGETHER}
SPEAKING = [leaf for leaf in LEAVES if not {leaf.plain, leaf.name} & APART]


@pytest.mark.parametrize("leaf", SPEAKING, ids=lambda leaf: leaf.name)
def test_a_change_of_the_field_changes_some_file(leaf):
    assert is_alive(leaf)


@pytest.mark.parametrize("name", SILENT)
def test_what_is_silent_is_a_field_and_is_silent(name):
    found = [leaf for leaf in LEAVES if name in (leaf.plain, leaf.name)]
    assert found
    assert not any(is_alive(leaf, bases=5) for leaf in found)


def test_what_changes_together_changes_some_file():
    tree = base("mixture", False)
    whole = Leaf(("feed_forward", "bias"), ("experts", None), shapes.Flag(), False)
    with_bias, without = (text_of(edited(tree, whole, value)) for value in (True, False))
    assert None not in (with_bias, without)
    assert with_bias != without
    assert {leaf.name for leaf in LEAVES} >= set(TOGETHER)
