"""Products with weights, shared by all cores of a CPU where a spec asks for that."""

from __future__ import annotations

from specc.render.engine import section


def shared_by_cores(sections: list[str]) -> list[str]:
    """The same sections behind a `linear` of the file's own, by which they make every product.

    Which section made a product plays no part, so it is done here, to their text.
    """
    own = [
        text.replace("= nn.Linear(", "= Linear(").replace("F.linear(", "linear(")
        for text in sections
    ]
    return [section("helpers/linear"), *own]
