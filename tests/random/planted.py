"""Bugs planted in templates, in memory only: what the random specs must find and shrink."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from jinja2 import FunctionLoader

from specc.render import engine

# (template, the right text, the wrong one)
PLANTED = {
    "rotary_sign": (
        "helpers/rotate_half.py.jinja",
        "first * cos - second * sin",
        "first * cos + second * sin",
    ),
    "mean_over_padding": ("helpers/mean_pool.py.jinja", "(x * real).sum", "x.sum"),
}


@contextmanager
def planted(template: str, right: str, wrong: str) -> Iterator[None]:
    """The templates with one of them broken."""
    folder = engine.template_folder()

    def source(name: str) -> str:
        text = (folder / name).read_text(encoding="utf-8")
        if name != template:
            return text
        assert right in text
        return text.replace(right, wrong)

    def forget() -> None:
        engine._environment.cache_clear()
        engine._template.cache_clear()

    forget()
    with patch.object(engine, "FileSystemLoader", lambda _folder: FunctionLoader(source)):
        try:
            yield
        finally:
            forget()
