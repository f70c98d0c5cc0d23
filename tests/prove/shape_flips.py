"""Every letter of every shape comment of every generated file, flipped: n of n caught."""

from __future__ import annotations

import sys

from specc.pipeline import compile_fully
from specc.verify import quiet_torch
from specc.verify.shapes import observe
from specc.verify.shapes.flips import Flip, flips
from tests.prove.tables import PUBLISHED, SMALL, for_each, say, spec_file, table, timed, write


def main() -> int:
    """Run them all; 1 when a flip passes."""
    names = (*PUBLISHED, *SMALL)
    found = for_each(_one, names)
    rows = [
        (name, comments, len(every), sum(flip.is_caught for flip in every), round(seconds))
        for name, ((comments, every), seconds) in zip(names, found, strict=True)
    ]
    total = ("all", *(sum(row[i] for row in rows) for i in range(1, 5)))
    write(
        "shape_comments.md",
        "# Shape comments: flipped letters that must be caught",
        "Written by `make prove`. In every comment of every generated file each letter is replaced"
        " by each other letter that the file declares; the check must call the comment a lie.",
        table(("file", "comments", "flips", "caught", "seconds"), [*rows, total]),
    )
    missed = [flip for (_, every), _ in found for flip in every if not flip.is_caught]
    for flip in missed:
        say(flip)
    say(f"{total[3]} of {total[2]} flips caught")
    return 1 if missed else 0


def _one(name: str) -> tuple[tuple[int, tuple[Flip, ...]], float]:
    return timed(lambda: _flips(compile_fully(spec_file(name)).artifact.text))


def _flips(text: str) -> tuple[int, tuple[Flip, ...]]:
    with quiet_torch():
        observed = observe(text)
        return observed.count, tuple(flips(observed))


if __name__ == "__main__":
    sys.exit(main())
