"""What an importer of one kind of config is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from specc.importers.config import Config
from specc.importers.draft import Draft


@dataclass(frozen=True)
class Dialect:
    """The words of one model_type. `module` is the folder of the family in the library, `layout`
    how its checkpoints name and store their tensors.
    """

    model_type: str
    module: str
    layout: str
    title: str
    translate: Callable[[Config, Draft], None]
