"""The spec that an importer writes: values by the path of their field, each with its citation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from specc.diagnostics import listed
from specc.importers.config import Cited, Config

Part = Mapping[str, Cited[Any]]  # path of a field below something -> its value


@dataclass
class Draft:
    """Values in the order in which they were said."""

    values: dict[str, Any] = field(default_factory=dict)
    citations: dict[str, Cited[Any]] = field(default_factory=dict)
    layout: str | None = None  # of the weights, where it is not that of the dialect

    def put(self, path: str, cited: Cited[Any] | None) -> None:
        """One field; None says nothing. Another kind takes away what the former kind had."""
        if cited is None:
            return
        *above, last = path.split(".")
        place = self.values
        for step in above:
            place = place.setdefault(step, {})
        if above and last == "kind" and place.get("kind", cited.value) != cited.value:
            place.clear()
            beneath = path.removesuffix("kind")
            for known in [each for each in self.citations if each.startswith(beneath)]:
                del self.citations[known]
        place[last] = cited.value
        self.citations[path] = cited

    def put_all(self, part: Part, below: str = "") -> None:
        """Several fields, their paths below one."""
        for path, cited in part.items():
            self.put(f"{below}{path}", cited)

    def layers(self, config: Config, axes: Sequence[Axis]) -> None:
        """What differs from layer to layer. An axis on which no two differ joins the base."""
        varying = [axis for axis in axes if len(set(axis.names)) > 1]
        for axis in axes:
            if axis not in varying and axis.names:
                self.put_all(axis.parts.get(axis.names[0], {}))
        if not varying or config.log.problems:
            return
        names = ["_".join(parts) for parts in zip(*(axis.names for axis in varying), strict=True)]
        at = listed([axis.at for axis in varying], "and")
        self.put("layers.pattern", Cited(pattern(names), at, varying[0].because))
        for name in dict.fromkeys(names):
            self.values["layers"].setdefault("types", {})[name] = {}
            first = names.index(name)
            for axis in varying:
                part = axis.parts.get(axis.names[first], {})
                self.put_all(part, f"layers.types.{name}.")


@dataclass(frozen=True)
class Axis:
    """One way in which layers differ: a name for each layer, and what a name stands for."""

    names: tuple[str, ...]
    at: str
    parts: Mapping[str, Part]
    because: str | None = None


def pattern(names: Sequence[str]) -> list[str | dict[str, int]]:
    """The shortest cycle that gives those names, repeats counted: [{local: 5}, global]."""
    length = next(
        n
        for n in range(1, len(names) + 1)
        if all(names[i] == names[i % n] for i in range(len(names)))
    )
    runs = [(name, len(list(same))) for name, same in groupby(names[:length])]
    return [name if times == 1 else {name: times} for name, times in runs]
