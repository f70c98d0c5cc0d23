from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from specc.cli.guard import guarded

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """An empty working directory that belongs to no project."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def specc(folder, capsys) -> Callable[..., Result]:
    """Run a command line in this process, in `folder`."""

    def run(*arguments: object) -> Result:
        code = guarded([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(int(code), captured.out, captured.err)

    return run


@pytest.fixture
def process(folder) -> Callable[..., Result]:
    """Run a command line in a process of its own, in `folder`."""

    def run(*arguments: object, env: dict[str, str] | None = None) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "specc", *map(str, arguments)],
            capture_output=True,
            encoding="utf-8",
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT / "compiler"), **(env or {})},
        )
        return Result(done.returncode, done.stdout, done.stderr)

    return run
