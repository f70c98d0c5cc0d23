"""The resolved tree -> `schema.Spec`. Pydantic has the last word; its complaints become
diagnostics with places.
"""

from __future__ import annotations

from pydantic import ValidationError

from specc.diagnostics import Diagnostic, Position, SpecPath, dotted
from specc.spec.schema import Spec
from specc.spec.tree import Mapping, Node, descend, plain


def validate(tree: Mapping, problems: list[Diagnostic]) -> Spec | None:
    """The spec, or None with what is wrong added to `problems`."""
    try:
        return Spec.model_validate(plain(tree))
    except ValidationError as error:
        for each in error.errors(include_url=False, include_context=False):
            nodes = list(descend(tree, each["loc"]))
            path = nodes[-1].mark.written
            message = f"{dotted(path)}: {each['msg'][:1].lower()}{each['msg'][1:]}"
            problems.append(Diagnostic(path, message, None, deepest(nodes)))
        return None


def deepest(nodes: list[Node]) -> Position | None:
    """The place of the last node that has one; the document itself does not count."""
    places = [node.mark.position for node in nodes[1:] if node.mark.position is not None]
    return places[-1] if places else None


def place_of(tree: Node, path: SpecPath) -> Position | None:
    """Where a path stands, or where the nearest part above it does."""
    return deepest(list(descend(tree, path)))
