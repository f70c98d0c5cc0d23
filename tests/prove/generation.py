"""Greedy decoding beside transformers, and beside a loop over golden: `python -m
tests.prove.generation`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import torch
import transformers

from specc.golden.decoding import greedy
from specc.importers.hf_configs import dialect_of
from specc.importers.layouts import LAYOUTS
from specc.ir.model import Kind
from specc.ir.walk import resize
from specc.pipeline import compile_fully, read_model
from specc.verify import quiet_torch
from specc.verify.against.generation import generation
from specc.verify.against.library import quiet_library
from specc.verify.against.pair import Pair
from specc.verify.calls import arguments
from specc.verify.inputs import rows_of
from specc.verify.live import generating, reset
from specc.verify.loading import loaded
from specc.verify.report import Status
from specc.verify.sizes import reduced_numbers, reduced_sizes
from specc.verify.texts import make_texts
from specc.verify.weights import stress_weights
from tests.prove.tables import PUBLISHED, for_each, say, spec_file, table, write

NEW = 64
ROOM = 96
ROWS = [0, 1, 2]


@dataclass(frozen=True)
class Row:
    """What was found for one spec."""

    spec: str
    oracle: str
    passed: bool
    evidence: str


def main() -> int:
    """Run them all; 1 when a token differs."""
    models = {name: read_model(spec_file(name)) for name in PUBLISHED}
    names = [name for name, model in models.items() if model.generate]
    known = [n for n in names if models[n].layout is not None and _is_decoder(n)]
    rows = for_each(against_library, known) + for_each(against_golden, names)
    write(
        "generation.md",
        "# Greedy decoding",
        f"Written by `make prove`; transformers {transformers.__version__}. Each model is built"
        f" small from its spec with random weights; {len(ROWS)} prompts of several lengths, padded"
        f" on the left, are continued by {NEW} tokens with `generate`. The"
        " oracle is a class of transformers, given the converted weights, with its own `generate`,"
        " both in float32; or a loop over golden that runs the whole text anew for each token,"
        " both in float64. Kinds are the different tokens among the new ones.",
        table(("spec", "oracle", "found"), [(r.spec, r.oracle, r.evidence) for r in rows]),
    )
    bad = [row for row in rows if not row.passed]
    for row in bad:
        say(f"{row.spec} against {row.oracle}: {row.evidence}")
    say(f"{len(rows)} comparisons, {len(bad)} failures")
    return 1 if bad else 0


def _is_decoder(name: str) -> bool:
    return read_model(spec_file(name)).kind is Kind.DECODER


def against_library(name: str) -> Row:
    """Beside the class of transformers that computes the model."""
    compilation = compile_fully(spec_file(name))
    model = compilation.model
    dialect = dialect_of(model)
    text = compilation.artifact.text
    with quiet_torch(), quiet_library(), loaded(text, model.name) as file:
        outcome = generation(Pair(model, file, dialect, LAYOUTS[dialect.layout]), NEW)
    passed = outcome.status is Status.PASS
    return Row(name, dialect.architecture, passed, outcome.evidence)


def against_golden(name: str) -> Row:
    """Beside a loop over golden."""
    compilation = compile_fully(spec_file(name))
    model = compilation.model
    sizes = reduced_sizes(model)
    if "max_seq_len" in sizes:
        sizes["max_seq_len"] = ROOM
    numbers = {**sizes, **reduced_numbers(model, sizes)}
    small = resize(model, numbers)
    texts = make_texts(small, stress_weights(small))
    inputs = rows_of(texts.inputs, ROWS)
    with quiet_torch(), loaded(compilation.artifact.text, model.name) as file, torch.no_grad():
        live = file.model_class(file.config_class(**numbers)).double().eval()
        reset(live)
        live.load_state_dict(texts.weights)
        found = generating(live).generate(**arguments(small, inputs), max_new_tokens=NEW)
        wanted = greedy(small, texts.weights, replace(inputs, attention_layers=()), NEW)
    agreed = int((found == wanted).all(0)[-NEW:].long().cumprod(0).sum())
    kinds = len(set(wanted[:, -NEW:].flatten().tolist()))
    evidence = f"{len(ROWS)} rows, padded left, {agreed} of {NEW} new tokens alike, {kinds} kinds"
    return Row(name, "golden", agreed == NEW, evidence)


if __name__ == "__main__":
    sys.exit(main())
