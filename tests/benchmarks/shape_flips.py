"""How many one-letter lies in the shape comments of the generated files the check catches: n of n.

Every letter of every comment is replaced by every other letter of the file's header. Exits with 1
when a flip passes, and names it. `python tests/benchmarks/shape_flips.py [SPEC...]`
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

from specc.pipeline import compile_spec
from specc.verify.shapes import examine
from specc.verify.shapes.flips import Flip, flips

SPECS = Path(__file__).resolve().parents[2] / "specs"


def report(spec: Path) -> list[Flip]:
    """Print a spec's line; returns its flips."""
    start = perf_counter()
    observed = examine(compile_spec(spec).text)
    if observed.lies:
        raise SystemExit(f"{spec.stem}: {observed.lies[0]}")
    found = list(flips(observed))
    letters = len({(flip.place, flip.column) for flip in found})
    caught = sum(flip.is_caught for flip in found)
    print(
        f"{spec.stem:<28}{observed.count:>4} comments {letters:>5} letters"
        f" {caught:>6} of {len(found)} flips caught  {perf_counter() - start:5.1f} s"
    )
    for flip in found:
        if not flip.is_caught:
            print(f"  line {flip.line}: {flip.before} -> {flip.after}")
    return found


def main() -> int:
    specs = [Path(name) for name in sys.argv[1:]] or sorted(SPECS.glob("*.yaml"))
    found = [flip for spec in specs for flip in report(spec)]
    caught = sum(flip.is_caught for flip in found)
    print(f"{len(specs)} files: {caught} of {len(found)} flips caught")
    return 0 if caught == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
