"""The letters that a file's header declares, and which numbers each may stand for in one call.

A letter of a run (batch, lengths) is held to the run's numbers, a letter of `Config` to the fields
of its name; a letter with another meaning binds freely, once a call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

ENTRY = re.compile(r"(?<!\S)([A-Z]) ([a-z][^A-Z]*)")
PARAGRAPH = re.compile(r"^Shapes +(.*?)(?:\n\s*\n|\Z)", re.DOTALL | re.MULTILINE)


class Length(Enum):
    """Letters that a run gives their numbers."""

    BATCH = "batch"
    NEW = "new tokens"
    ALL = "all tokens so far"
    REACH = "tokens in reach"
    MEMORY = "memory places"


CONFIG_FIELDS = {
    "vocabulary": "vocab_size",
    "model width": "d_model",
    "query heads": "n_heads",
    "key/value heads": "n_kv_heads",
    "head width": "head_dim",
    "turned features": "rotary_dim",
    "unturned features": "nope_head_dim",
    "value width": "value_head_dim",
    "latent width": "kv_rank",
    "query latent width": "q_rank",
    "embedding width": "embedding_width",
    "feed-forward width": "d_ff",
    "classes": "n_classes",
    "experts": "n_experts",
    "chosen experts": "top_k",
    "expert groups": "n_groups",
}
ROWS = "an expert's tokens"
WINDOW = "window"


@dataclass(frozen=True)
class Facts:
    """The numbers of one call of the model. None where there are none, as in `__init__`."""

    batch: int | None = None
    new: int | None = None
    all: int | None = None
    memory: int | None = None
    capacity: int | None = None


@dataclass(frozen=True)
class Legend:
    """Letter -> meaning, in the order of the header."""

    meanings: Mapping[str, str]

    def is_length(self, letter: str, length: Length) -> bool:
        """Whether the letter means that."""
        return self.meanings.get(letter) == length.value

    def field(self, letter: str) -> str | None:
        """The `Config` name that the letter stands for."""
        return CONFIG_FIELDS.get(self.meanings.get(letter, ""))

    def counts_rows(self, letter: str) -> bool:
        """Whether the letter counts the rows of a matrix, of which only the call can tell."""
        return self.meanings.get(letter) == ROWS

    def is_of_run(self, letter: str) -> bool:
        """Whether a run gives the letter its number."""
        return self.meanings.get(letter) in [length.value for length in Length]


def read_legend(header: str) -> Legend:
    """The letters of the header's paragraph `Shapes`."""
    paragraph = PARAGRAPH.search(header)
    entries = ENTRY.findall(" ".join(paragraph[1].split())) if paragraph else []
    return Legend({letter: meaning.strip() for letter, meaning in entries})


def values_of(base: str, config: Mapping[str, int]) -> frozenset[int]:
    """The sizes of that name in `Config`, with the suffix of a layer type or a stack as well.

    A head width that `Config` does not name is the width split over the heads, unless keys and
    values unfold from a latent.
    """
    found = frozenset(
        value for name, value in config.items() if name == base or name.startswith(f"{base}_")
    )
    if base == "head_dim" and not found and "kv_rank" not in config:
        width, heads = config.get("d_model"), config.get("n_heads")
        return frozenset([width // heads] if width and heads else [])
    return found


def lengths(length: Length, facts: Facts, windows: frozenset[int]) -> frozenset[int]:
    """What a letter of a run may be: a layer or helper may be at work on the memory."""
    match length:
        case Length.BATCH:
            found = [facts.batch]
        case Length.NEW:
            found = [facts.new, facts.memory]
        case Length.ALL:
            found = [facts.all, facts.memory]
        case Length.REACH:
            found = [facts.all, facts.memory, *_in_reach(facts, windows)]
        case Length.MEMORY:
            found = [facts.memory]
    return frozenset(number for number in found if number is not None)


def _in_reach(facts: Facts, windows: frozenset[int]) -> list[int]:
    """The new tokens and those before that the first of them may look at, for each window."""
    if facts.all is None or facts.new is None:
        return []
    past = facts.all - facts.new
    return [facts.new + min(past, window - 1) for window in windows]


def rooms(facts: Facts, config: Mapping[str, int]) -> frozenset[int]:
    """How many tokens a layer's cache may have room for: a window's but one, or its capacity."""
    if facts.capacity is None:
        return frozenset()
    windows = values_of(WINDOW, config)
    return frozenset([facts.capacity, *(min(window - 1, facts.capacity) for window in windows)])
