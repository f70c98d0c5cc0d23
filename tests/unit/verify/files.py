"""Generated files for the tests of this folder: compiled once, and broken by small edits."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from specc.pipeline import Compilation, compile_fully

SPECS = Path(__file__).resolve().parents[3] / "specs"

# Every kind of structure once, for tests that cost seconds a spec; `make prove` runs them all.
COVERING = (
    "bert_base",
    "bloom_560m",
    "command_r7b",
    "deepseek_v3",
    "falcon_40b",
    "gemma_2_2b",
    "gpt2",
    "gpt_oss_20b",
    "llama_3_2_1b",
    "llama_4_scout",
    "minicpm3_4b",
    "olmo_3_7b",
    "opt_350m",
    "set_attention_l2",
    "text_classifier",
    "tiny_transformer_lm",
    "vaswani_base",
)

# The dearest to compile, and the most letters to flip: `make prove` does both.
DEAR = ("gpt_oss_20b", "llama_4_scout")
CHEAP = tuple(name for name in COVERING if name not in DEAR)


@cache
def compiled(name: str) -> Compilation:
    return compile_fully(SPECS / f"{name}.yaml")


def edited(text: str, old: str, new: str) -> str:
    """The text with its one `old` replaced; an edit that finds none or several is a broken test."""
    if text.count(old) != 1:
        raise ValueError(f"{old!r} stands {text.count(old)} times in the file")
    return text.replace(old, new)
