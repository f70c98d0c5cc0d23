"""One field's documentation as data. The field's type and default are not here: the schema has
them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Doc:
    """What a field means, where the idea comes from, how people get it wrong, and what would tell.

    `elsewhere` says where a well-known text does otherwise, and what specc does.
    """

    meaning: str
    source: str = ""
    mistakes: tuple[str, ...] = ()
    check: str = ""
    elsewhere: str = ""
