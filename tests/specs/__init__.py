"""Small specs of what no published one has: the tests of mutants and of dead fields read them."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent
PUBLISHED = HERE.parents[1] / "specs"
SMALL = tuple(sorted(path.stem for path in HERE.glob("*.yaml")))


def spec_path(name: str) -> Path:
    """The spec of that name, small or published."""
    own = HERE / f"{name}.yaml"
    return own if own.is_file() else PUBLISHED / f"{name}.yaml"
