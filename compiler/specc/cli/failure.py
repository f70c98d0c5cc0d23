"""What a verb raises to stop with one clear message, and how the process then ends."""

from __future__ import annotations

from enum import IntEnum


class Code(IntEnum):
    """How the process ends."""

    FINE = 0
    DRIFT = 1
    BAD_INPUT = 2
    INTERNAL = 3
    INTERRUPTED = 130


class Failure(Exception):
    """One message for a person, and the exit code that goes with it."""

    def __init__(self, message: str, code: Code = Code.BAD_INPUT) -> None:
        super().__init__(message)
        self.code = code
