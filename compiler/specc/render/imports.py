"""The imports of a file, by how its text uses them.

A use in a comment counts too: `rewrite` drops what only looked used, and is slower when it must.
"""

from __future__ import annotations

import re

from specc.render.engine import section

USES = {
    "math": r"\bmath\.",
    "re": r"\bre\.",
    "Iterator": r"\bIterator\[",
    "Mapping": r"\bMapping\[",
    "NamedTuple": r"\(NamedTuple\)",
    "F": r"\bF\.",
}


def imports_section(text: str) -> str:
    """The imports of the file whose text that is."""
    used = {name for name, pattern in USES.items() if re.search(pattern, text)}
    abc = sorted(used & {"Iterator", "Mapping"})
    return section("imports", used=used, abc=", ".join(abc))
