"""What the scripts of this folder share: the specs, two workers, and tables in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[2]
PROOFS = ROOT / "docs" / "proofs"
PUBLISHED = tuple(sorted(path.stem for path in (ROOT / "specs").glob("*.yaml")))
SMALL = tuple(sorted(path.stem for path in (ROOT / "tests" / "specs").glob("*.yaml")))
WORKERS = 2

Given = TypeVar("Given")
Result = TypeVar("Result")


def spec_file(name: str) -> Path:
    """The spec of that name."""
    own = ROOT / "specs" / f"{name}.yaml"
    return own if own.is_file() else ROOT / "tests" / "specs" / f"{name}.yaml"


def say(text: str) -> None:
    """One line for the person who runs it."""
    print(text, flush=True)  # a script


def for_each(work: Callable[[Given], Result], given: Sequence[Given]) -> list[Result]:
    """The work done for each, by two processes."""
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        return list(pool.map(work, given))


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """What it gives, and the seconds of the processor that it took."""
    start = process_time()
    return work(), process_time() - start


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A table in Markdown; numbers stand on the right."""
    right = [bool(rows) and isinstance(rows[0][i], int | float) for i in range(len(head))]
    lines = [head, ["---:" if r else "---" for r in right], *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value).replace("|", "\\|")


def write(name: str, *paragraphs: str) -> None:
    """A proof's file."""
    PROOFS.mkdir(parents=True, exist_ok=True)
    (PROOFS / name).write_text("\n\n".join(paragraphs) + "\n", encoding="utf-8", newline="\n")
