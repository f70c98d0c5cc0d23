"""`assert_never` for every Python that the compiler runs on: typing has it from 3.11."""

from typing import NoReturn


def assert_never(value: NoReturn) -> NoReturn:
    """Unreachable when mypy is content; names the value that a `match` forgot."""
    raise AssertionError(f"unhandled {type(value).__name__}: {value!r}")
