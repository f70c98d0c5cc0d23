"""The `style:` line: words that a paper's reader would say aloud, each a partial spec.

An ordered table, no code per word. What stands below the line overrides it; two words that set one
field differently are an error that names both.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from specc.diagnostics import Diagnostic, Position, did_you_mean, dotted
from specc.spec.merge import merge_mappings
from specc.spec.tree import Mapping, Mark, Scalar, grow, leaves

_Partial = dict[str, Any]


def _norm_placement(word: str) -> _Partial:
    return {"block": {"norm_placement": word}}


def _activation(word: str) -> _Partial:
    return {"feed_forward": {"activation": word}}


def _gated(word: str) -> _Partial:
    return {"feed_forward": {"kind": "glu", "activation": word}}


def _biases(value: bool) -> _Partial:
    attention = dict.fromkeys(("q", "k", "v", "o"), value)
    return {
        "attention": {"bias": attention},
        "feed_forward": {"bias": {"up": value, "down": value}},
    }


TABLE: dict[str, _Partial] = {
    "encoder-decoder": {"kind": "encoder_decoder"},
    "decoder": {"kind": "decoder"},
    "decoder-only": {"kind": "decoder"},
    "encoder": {"kind": "encoder"},
    "encoder-only": {"kind": "encoder"},
    "set": {"kind": "features"},
    "features": {"kind": "features"},
    "post-norm": _norm_placement("post"),
    "pre-norm": _norm_placement("pre"),
    "sandwich-norm": _norm_placement("sandwich"),
    "post-sublayer-norm": _norm_placement("post_sublayer"),
    "parallel": {"block": {"wiring": "parallel"}},
    "layer norm": {"norm": {"kind": "layer"}},
    "layernorm": {"norm": {"kind": "layer"}},
    "rms norm": {"norm": {"kind": "rms"}},
    "rmsnorm": {"norm": {"kind": "rms"}},
    "sinusoidal": {"position": {"kind": "sinusoidal"}},
    "learned positions": {"position": {"kind": "learned"}},
    "rotary": {"position": {"kind": "rope"}},
    "rope": {"position": {"kind": "rope"}},
    "alibi": {"position": {"kind": "alibi"}},
    "no positions": {"position": {"kind": "none"}},
    "tied weights": {"head": {"tied": True}, "embedding": {"shared": True}},
    "tied": {"head": {"tied": True}, "embedding": {"shared": True}},
    "untied": {"head": {"tied": False}},
    "relu": _activation("relu"),
    "relu squared": _activation("relu_squared"),
    "gelu": _activation("gelu_erf"),
    "gelu tanh": _activation("gelu_tanh"),
    "silu": _activation("silu"),
    "swiglu": _gated("silu"),
    "geglu": _gated("gelu_erf"),
    "reglu": _gated("relu"),
    "mqa": {"attention": {"n_kv_heads": 1}},
    "multi-query": {"attention": {"n_kv_heads": 1}},
    "qk-norm": {"attention": {"qk_norm": {"kind": "rms"}}},
    "no bias": _biases(False),
    "biases": _biases(True),
}

_ONE_SPELLING = str.maketrans({"_": " ", "-": " "})
_BY_SPELLING = {word.translate(_ONE_SPELLING): word for word in TABLE}


@dataclass(frozen=True)
class Word:
    """One word of the line: as the table has it (None: it has not), as written, and where."""

    known: str | None
    written: str
    position: Position | None


def words(line: Scalar, text: str) -> tuple[Word, ...]:
    """The comma-separated words of a style line. `text` is the file, to find the column of each."""
    value = line.value if isinstance(line.value, str) else ""
    found: list[Word] = []
    offset = 0
    for part in value.split(","):
        written = part.strip()
        place = _position(line, text, offset + len(part) - len(part.lstrip()), written)
        spelling = " ".join(written.lower().translate(_ONE_SPELLING).split())
        found.append(Word(_BY_SPELLING.get(spelling), written, place))
        offset += len(part) + 1
    return tuple(found)


def _position(line: Scalar, text: str, offset: int, written: str) -> Position | None:
    """The word's own place, if it stands in the file as it stands in the value."""
    place = line.mark.position
    if place is None:
        return None
    column = place.column + offset + (1 if line.quoted else 0)
    lines = text.split("\n")
    if place.line <= len(lines) and lines[place.line - 1].startswith(written, column - 1):
        return Position(place.line, column)
    return place


def problems(found: tuple[Word, ...]) -> Iterator[Diagnostic]:
    """Unknown words, and pairs of words that clash."""
    for word in found:
        if word.known is None:
            hint = did_you_mean(word.written, TABLE) or f"known words: {', '.join(TABLE)}"
            what = f"style word '{word.written}'" if word.written else "empty style word"
            yield Diagnostic(("style",), f"unknown {what}", hint, word.position)
    setters: dict[str, tuple[Word, object]] = {}
    for word in found:
        for path, value in _sets(word):
            first, before = setters.setdefault(path, (word, value))
            if before != value:
                message = f"style words '{first.written}' and '{word.written}' both set {path}"
                yield Diagnostic(("style",), message, "keep one of them", word.position)


def _sets(word: Word) -> Iterator[tuple[str, object]]:
    if word.known is not None:
        for path, leaf in leaves(_partial(word)):
            if isinstance(leaf, Scalar):
                yield dotted(path), leaf.value


def _partial(word: Word) -> Mapping:
    tree = grow(TABLE[word.known] if word.known else {}, Mark(word.position, "style", ()))
    if not isinstance(tree, Mapping):
        raise TypeError("a style word is a mapping")
    return tree


def tree(found: tuple[Word, ...]) -> Mapping:
    """The partial spec that the words say together. Call it when there are no `problems`."""
    merged = Mapping((), Mark(None, "style", ()))
    for word in found:
        merged = merge_mappings(merged, _partial(word))
    return merged
