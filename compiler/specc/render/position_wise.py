"""The feed-forward classes of a file: plain and gated ones, and mixtures of experts, whose shared
expert is a gated one too.
"""

from __future__ import annotations

from collections.abc import Sequence

from specc.ir.feed_forward import FeedForward, Glu, MixtureOfExperts, Mlp
from specc.render.citations import Citations
from specc.render.classes import ClassTable, Role
from specc.render.code import Scope
from specc.render.experts import experts_section
from specc.render.feed_forward import feed_forward_section


class FeedForwardTable:
    """All feed-forward classes, and how to construct each part."""

    def __init__(self, roles: Sequence[Role[FeedForward]]) -> None:
        dense: list[Role[Mlp | Glu]] = []
        mixtures: list[Role[MixtureOfExperts]] = []
        for role in roles:
            place = (role.stack, role.layer_type)
            if isinstance(role.part, MixtureOfExperts):
                mixtures.append(Role(role.part, *place))
                if role.part.shared is not None:
                    dense.append(Role(role.part.shared.body, *place))
            else:
                dense.append(Role(role.part, *place))
        self._dense = ClassTable("FeedForward", dense)
        self._mixtures = ClassTable("MixtureOfExperts", mixtures)

    def construct(self, role: Role[FeedForward], scope: Scope) -> str:
        """`FeedForward(config)`, or another class with the numbers that it takes."""
        place = (role.stack, role.layer_type)
        if isinstance(role.part, MixtureOfExperts):
            return self._mixtures.call(Role(role.part, *place)).code(scope)
        return self._dense.call(Role(role.part, *place)).code(scope)

    def sections(self, cite: Citations) -> list[str]:
        """The texts of the classes, bottom-up."""
        found = [feed_forward_section(cls, cite) for cls in self._dense.classes]
        for cls in self._mixtures.classes:
            first, shared = cls.roles[0], cls.part.shared
            role = None if shared is None else Role(shared.body, first.stack, first.layer_type)
            made = None if role is None else self._dense.call(role).code(cls.scope)
            found.append(experts_section(cls, made, cite))
        return found

    @property
    def resetting(self) -> list[str]:
        """The classes that fill their own tensors."""
        return [cls.name for cls in self._mixtures.classes]
