"""Jinja, set up to be strict: an undefined name is an error, templates can reach nothing but what
they are given.

A template is either a whole section of the file or a part: a file of two macros, `init` and
`forward`, that give
the lines that the part adds to those methods of its class.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from jinja2 import FileSystemLoader, StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment


def template_folder() -> Path:
    """Where the templates lie: inside the installed package, else at the root of a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "templates"
    return installed if installed.is_dir() else package.parent.parent / "templates"


@cache
def _environment() -> SandboxedEnvironment:
    return SandboxedEnvironment(
        loader=FileSystemLoader(template_folder()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


@cache
def _template(name: str) -> Template:
    return _environment().get_template(f"{name}.py.jinja")


def section(template: str, /, **context: object) -> str:
    """A whole section of the file."""
    return _template(template).render(**context).strip("\n")


def lines(name: str, macro: str, part: object) -> tuple[str, ...]:
    """The lines that one macro of a part gives; a part without that macro adds none."""
    module = _template(name).module
    if macro not in module.__dict__:
        return ()
    text = str(module.__dict__[macro](part))
    return tuple(line for line in text.splitlines() if line.strip())
