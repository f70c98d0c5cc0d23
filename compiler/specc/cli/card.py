"""`specc card`: what a model costs, from its spec alone; nothing is built, run or measured."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from specc.cli.failure import Code, Failure
from specc.cli.sheet import Sheet, show_markdown, show_sheets
from specc.cli.sources import find_specs
from specc.cli.table import CardFormat, show_json
from specc.ir.calls import longest, usual_length
from specc.ir.card import Card
from specc.ir.card import card as costs
from specc.ir.exhaustive import assert_never
from specc.ir.memory import DTYPES
from specc.ir.model import Kind, Model
from specc.ir.ownership import Role, Row
from specc.pipeline import read_model

OF_FLOPS = (
    "FLOPs are those of matrix products, 2 for each multiplication with its addition; attention"
    " counts whole rectangles, queries by keys, whatever the mask hides. Backward: twice forward."
)
OF_ACTIVATIONS = (
    "Activations are what a training step keeps for its backward pass where elementwise work is"
    " done again: what enters maps, attention products, norms and activation functions, both"
    " factors of gates, the outputs, a byte for each value that may be dropped; each once, and"
    " attention weights only where a softcap or sinks spell them out."
)
OF_EXPERTS = (
    "Active parameters and FLOPs: of the experts, those that a token chooses, the same number"
    " whatever the router says."
)
OF_SOURCE = "The source is as long as the target; per token is per token of the target."
OF_MEMORY = "The memory is as long as the queries."
DECODING = "A decode step is one more token a text when the cache holds all others."


def card(spec: Path, length: int | None, batch: int, how: CardFormat) -> Code:
    """Print the costs of a spec's model. Raises `Failure` and `SpecError`."""
    if spec.is_dir():
        raise Failure(f"{spec} is a folder: a card is about one spec")
    (found,) = find_specs([spec])
    model = read_model(found)
    one = costs(model, batch, _length(model, length))
    match how:
        case CardFormat.JSON:
            show_json([to_dict(one)])
        case CardFormat.MARKDOWN:
            show_markdown(_heading(one), _sheets(one), _notes(one))
        case CardFormat.TABLE:
            show_sheets(_heading(one), _sheets(one), _notes(one))
        case _:
            assert_never(how)
    return Code.FINE


def _length(model: Model, wanted: int | None) -> int:
    most = longest(model)
    if wanted is None:
        return usual_length(model)
    if most is not None and wanted > most:
        raise Failure(f"--length {wanted} is more than {model.name} can read: max_seq_len {most}")
    return wanted


def to_dict(one: Card) -> dict[str, object]:
    """The card for a program: exact integers; what is per token may be a fraction."""
    parameters: dict[str, object] = {
        "total": one.parameters,
        "active": one.active,
        "without_embeddings": one.parameters - one.embedding,
        "active_without_embeddings": one.active - one.embedding,
        "by_kind": {role.value: one.of(role) for role in Role},
    }
    flops = {
        "forward": one.forward,
        "training": one.training,
        "decode_step": one.decode,
        "forward_per_token": _per(one.forward, one.tokens),
        "training_per_token": _per(one.training, one.tokens),
        "decode_step_per_token": None if one.decode is None else _per(one.decode, one.batch),
    }
    return {
        "name": one.model.name,
        "title": one.model.title,
        "batch": one.batch,
        "length": one.length,
        "parameters": parameters,
        "flops": flops,
        "bytes": {name: _bytes(one, size) for name, size in DTYPES.items()},
        "modules": [_module(row) for row in one.rows],
        "counted": list(_notes(one)),
    }


def _bytes(one: Card, itemsize: int) -> Mapping[str, object]:
    cached = one.model.cache
    return {
        "weights": one.weights(itemsize),
        "cache": one.cache(itemsize) if cached else None,
        "cache_per_token": _per(one.cache(itemsize), one.tokens) if cached else None,
        "activations": one.activations.bytes(itemsize),
        "activations_per_token": _per(one.activations.bytes(itemsize), one.tokens),
    }


def _module(row: Row) -> dict[str, object]:
    return {
        "module": _place(row),
        "layers": list(row.layers) or None,
        "layer_type": row.layer_type or None,
        "kind": row.role.value,
        "parameters": row.parameters,
        "active": row.active,
        "flops": row.flops,
    }


def _per(total: int, count: int) -> int | float:
    return total // count if total % count == 0 else total / count


def _place(row: Row) -> str:
    return f"{row.stack}.*.{row.name}" if row.layers else row.name


def _heading(one: Card) -> str:
    texts = "1 text" if one.batch == 1 else f"{one.batch} texts"
    return f"{one.model.title}: {texts} of {one.length:,} tokens"


def _notes(one: Card) -> tuple[str, ...]:
    found = [OF_FLOPS, OF_ACTIVATIONS]
    if one.active != one.parameters:
        found.append(OF_EXPERTS)
    if one.model.kind is Kind.ENCODER_DECODER:
        found.append(OF_SOURCE)
    if one.model.kind is Kind.FEATURES:
        found.append(OF_MEMORY)
    if one.decode is not None:
        found.append(DECODING)
    return tuple(found)


def _sheets(one: Card) -> tuple[Sheet, ...]:
    return (_modules(one), _kinds(one), _work(one), _memory(one))


def _modules(one: Card) -> Sheet:
    """A line a row of equal modules."""
    lines = [
        (
            _place(row),
            row.layer_type,
            row.role.value,
            str(len(row.layers)) if row.layers else "",
            f"{row.parameters:,}",
            f"{row.count * row.parameters:,}",
            f"{row.count * row.active:,}",
            _shown(Fraction(row.count * row.flops, one.tokens)),
        )
        for row in one.rows
    ]
    header = ("module", "type", "kind", "layers", "each", "parameters", "active", "FLOPs / token")
    kept = [i for i in range(len(header)) if _is_told(one, header[i])]
    cut = [tuple(line[i] for i in kept) for line in (header, *lines)]
    return Sheet("Modules", cut[0], tuple(cut[1:]), words=3 if "type" in cut[0] else 2)


def _is_told(one: Card, column: str) -> bool:
    """Whether a column says anything about this model."""
    if column == "type":
        return any(row.layer_type for row in one.rows)
    return column != "active" or one.active != one.parameters


def _kinds(one: Card) -> Sheet:
    counts = {
        "all": one.parameters,
        "active": one.active,
        "without embeddings": one.parameters - one.embedding,
        "active, without embeddings": one.active - one.embedding,
    }
    if one.active == one.parameters:
        counts = {name: count for name, count in counts.items() if "active" not in name}
    by_kind = {role.value: one.of(role) for role in Role if one.of(role)}
    lines = tuple(
        (name, f"{count:,}", f"{count / one.parameters:.1%}")
        for name, count in {**by_kind, **counts}.items()
    )
    return Sheet("Parameters", ("kind", "parameters", "share"), lines)


def _work(one: Card) -> Sheet:
    lines = [
        ("forward", _shown(Fraction(one.forward, one.tokens)), f"{one.forward:,}"),
        ("training step", _shown(Fraction(one.training, one.tokens)), f"{one.training:,}"),
    ]
    if one.decode is not None:
        step = _shown(Fraction(one.decode, one.batch))
        lines.append(("decode step", step, f"{one.decode:,}"))
    return Sheet("FLOPs", ("pass", "a token", "in all"), tuple(lines))


def _memory(one: Card) -> Sheet:
    header = ("dtype", "weights", "activations", "activations / token")
    cached = ("cache", "cache / token") if one.model.cache else ()
    lines = []
    for name, size in DTYPES.items():
        kept = one.activations.bytes(size)
        line = [name, f"{one.weights(size):,}", f"{kept:,}", _shown(Fraction(kept, one.tokens))]
        if cached:
            room = one.cache(size)
            line += [f"{room:,}", _shown(Fraction(room, one.tokens))]
        lines.append(tuple(line))
    return Sheet("Bytes", (*header, *cached), tuple(lines))


def _shown(value: Fraction) -> str:
    """With thousands apart; to a tenth where it is no whole number."""
    return f"{value.numerator:,}" if value.denominator == 1 else f"{float(value):,.1f}"
