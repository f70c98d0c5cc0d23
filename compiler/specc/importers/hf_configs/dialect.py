"""What is known of one kind of foreign config: which models it can say, and how it says them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from specc.importers.hf_configs.facts import Facts

Sizes = Mapping[str, int]


@dataclass(frozen=True)
class Dialect:
    """One model class of the library.

    `says` tells whether the class computes a model (of its layout); `sizes` gives the sizes that
    it cannot choose freely, from a model of other sizes. `attention` is the implementation that
    serves as oracle, and `because` says why where another one is wrong or missing.
    """

    layout: str
    model_type: str
    architecture: str
    write: Callable[[Facts], dict[str, object]]
    says: Callable[[Facts], bool] = lambda _: True
    sizes: Callable[[Facts], Sizes] = lambda _: {}
    attention: str = "sdpa"
    because: str = ""
    padded: Callable[[Facts], Mapping[str, float]] = lambda _: {}
    padded_because: str = ""
    without: tuple[str, ...] = ()  # parts of the class that it is asked to leave out

    def config(self, facts: Facts) -> dict[str, object]:
        """A config.json of the model."""
        return {
            "model_type": self.model_type,
            "architectures": [self.architecture],
            "bos_token_id": None,
            "eos_token_id": None,
            "pad_token_id": None,
        } | self.write(facts)


def divisible(facts: Facts) -> Sizes:
    """A width that the number of heads divides, though heads have a width of their own."""
    part = facts.attention
    heads, width = part.n_heads.value, part.d_model.value
    return {part.d_model.name: heads * max(2, round(width / heads))}


def square(facts: Facts) -> Sizes:
    """Heads that share out the width."""
    part = facts.attention
    return {part.d_model.name: part.n_heads.value * part.head_dim.value}
