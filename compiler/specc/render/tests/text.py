"""Puts a test file together: one template a topic, chosen by what the model has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from specc.ir.attention import Attention, QkL2Norm
from specc.ir.block import TokenInput
from specc.ir.feed_forward import MixtureOfExperts
from specc.ir.heads import (
    ClassifierHead,
    Head,
    LanguageModelHead,
    MaskedLanguageModelHead,
    Pool,
    Tied,
)
from specc.ir.layers import Dropout, Norm, NormWeight, RmsNorm
from specc.ir.model import Kind, Model
from specc.ir.positions import LearnedPosition, PositionIndex, Rotary, Sinusoidal
from specc.ir.sizes import Vector
from specc.ir.walk import config_fields, resize, walk
from specc.render.code import literal
from specc.render.engine import section
from specc.render.header import ORDER
from specc.render.tests.cast_order import CastOrder
from specc.render.tests.continuing import ROOM, Continuing, grows
from specc.render.tests.facts import (
    CHANGED,
    LENGTH,
    MASK,
    MEMORY_LENGTH,
    MEMORY_MASK,
    PADS,
    STRIDE,
    Facts,
    Rows,
)
from specc.render.tests.reach import followers, told
from specc.render.tests.vocabulary import known_ids


class FileText:
    """What the templates ask about a model and its numbers."""

    mask = MASK
    memory_mask = MEMORY_MASK
    length = LENGTH
    one_less = LENGTH - 1
    memory_length = MEMORY_LENGTH
    pads = PADS
    stride = STRIDE

    def __init__(self, model: Model, facts: Facts, module: str) -> None:
        self.model = model
        self.facts = facts
        self.module = module
        self.name = model.class_name
        self.kind = model.kind
        self.continuing = Continuing(model, self.is_tuple)
        self.has_cache = model.cache
        self.has_dropout = any(isinstance(part, Dropout) for part in walk(model.stacks))

    @property
    def imported(self) -> str:
        """The names to import, as import sorters order them: constants, classes, functions."""
        names = ["Config", self.name, *(["Output"] if self.is_tuple else [])]
        if self.model.generate:
            names.append("sample")
        return ", ".join(sorted(names, key=_import_order))

    @property
    def defaults(self) -> list[tuple[str, str]]:
        """The numbers of the full `Config`."""
        return _ordered(
            {
                f.name: f.values if isinstance(f, Vector) else f.value
                for f in config_fields(self.model)
            }
        )

    @property
    def sizes(self) -> list[tuple[str, str]]:
        """The numbers of the small one that differ."""
        return _ordered(dict(self.facts.sizes))

    def six(self, value: float) -> str:
        """Six digits."""
        return f"{value:#.6g}"

    def row(self, values: tuple[float, ...]) -> str:
        """Some numbers with six digits each."""
        return ", ".join(map(self.six, values))

    def rows(self, rows: Rows) -> list[str]:
        """One line a row."""
        return [self.row(row) for row in rows]

    def short(self, value: float) -> str:
        """A number as a person would type it."""
        return literal(value)

    # What forward takes and gives

    @property
    def is_tuple(self) -> bool:
        """Whether forward gives an `Output`."""
        return len(self.model.heads) > 1 or self.model.attention_weights

    @property
    def returns(self) -> str:
        """The type of what forward gives."""
        return "Output" if self.is_tuple else "Tensor"

    @property
    def tensors(self) -> str:
        """All tensors of `output`, as a tuple."""
        names = [f"output.{head.output_name}" for head in self.model.heads]
        if self.model.attention_weights:
            names.append("*output.attention_weights")
        return ", ".join(names)

    @property
    def main(self) -> str:
        """How to get at the output that most tests look at: one that has places, if any has."""
        return self.attribute(main_head(self.model))

    def attribute(self, head: Head) -> str:
        """`.logits`, or nothing where forward gives one tensor."""
        return f".{head.output_name}" if self.is_tuple else ""

    @property
    def has_places(self) -> bool:
        """Whether the main output has one vector a place."""
        return not isinstance(main_head(self.model), ClassifierHead)

    @property
    def reads_features(self) -> bool:
        """Whether features come in, which must have the model's dtype."""
        return self.model.kind is Kind.FEATURES

    @property
    def has_types(self) -> bool:
        """Whether tokens have types."""
        return self._types is not None

    @property
    def n_types(self) -> str:
        """The Config name of how many types there are."""
        return self._types or ""

    @property
    def _types(self) -> str | None:
        part = self.model.stacks[0].input
        if isinstance(part, TokenInput) and part.types is not None:
            return part.types.rows.name
        return None

    @property
    def numbers(self) -> str:
        """The function that boils an output down."""
        return "numbers" if self.is_tuple else "summary"

    @property
    def inputs_type(self) -> str:
        """Of the named inputs."""
        return "dict[str, object]" if self.model.attention_weights else "dict[str, Tensor]"

    def call(self, model: str, inputs: str) -> str:
        """The expression that runs a model on named inputs."""
        return f"run({model}, {inputs})" if self.reads_features else f"{model}(**{inputs})"

    def out(self, model: str, inputs: str) -> str:
        """The main output of such a run."""
        return f"{self.call(model, inputs)}{self.main}"

    # Sizes by their Config names

    def vocabulary(self, i: int) -> str:
        """How many ids stack `i` knows."""
        ids = known_ids(self.model, i)
        return "" if ids is None else ids.name

    @property
    def width(self) -> str:
        """D of a model over features."""
        part = self.model.stacks[0].input
        return "" if isinstance(part, TokenInput) else part.d_model.name

    @property
    def limit(self) -> str | None:
        """The Config name of the number of positions of the last stack, where there is one."""
        tables = (Rotary, LearnedPosition, Sinusoidal)
        parts = walk(self.model.stacks[-1])
        return next((p.size.name for p in parts if isinstance(p, tables)), None)

    # Behaviour

    @cached_property
    def followers(self) -> tuple[int, int]:
        """The first place of the last stack that follows the changed one, and one past the last."""
        small = resize(self.model, dict(self.facts.sizes))
        return followers(small.stacks[-1], CHANGED, LENGTH)

    @property
    def all_follow(self) -> bool:
        """Whether every place follows the changed one."""
        return self.followers == (0, LENGTH)

    @property
    def told(self) -> list[str]:
        """What a test says of the gaps at all places; of a pooled output, that there is one."""
        if self.has_places:
            return told(self.followers, LENGTH)
        head = main_head(self.model)
        is_first = isinstance(head, ClassifierHead) and head.pool is Pool.FIRST
        if is_first and self.followers[0]:
            return ["assert gap.abs().max() < 1e-12"]
        return ["assert gap.abs().amax(-1).min() > 1e-9"]

    @property
    def looking(self) -> str:
        """What a test of it is called."""
        if self.followers == (CHANGED, CHANGED + 1):
            return "tokens_see_only_themselves"
        if self.all_follow:
            return "every_token_sees_every_other"
        is_causal = self.followers[0] == CHANGED
        return "no_token_sees_the_future" if is_causal else "tokens_see_as_far_as_they_may"

    @property
    def counts_columns(self) -> bool:
        """Whether padding on the left may change something: places are columns, or the first one
        is read.
        """
        tables = (Sinusoidal, LearnedPosition)
        parts = walk(self.model.stacks)
        head = main_head(self.model)
        return any(isinstance(p, tables) and p.index is PositionIndex.ARANGE for p in parts) or (
            isinstance(head, ClassifierHead) and head.pool is Pool.FIRST
        )

    @property
    def sides(self) -> str:
        """Where padding must change nothing, as (left, right)."""
        return f"(0, {PADS})" if self.counts_columns else f"({PADS}, 0), (0, {PADS})"

    @property
    def side_names(self) -> str:
        """Their names."""
        return '"right"' if self.counts_columns else '"left", "right"'

    @property
    def room(self) -> int:
        """The room of a cache for LENGTH tokens, within which a whole pass turns alike."""
        return LENGTH if grows(self.model) else ROOM

    @property
    def tie(self) -> str | None:
        """The embedding that is also the output matrix."""
        tied = self._tied
        return None if tied is None else tied[0].embedding.name

    @property
    def tie_vocabulary(self) -> str:
        """How many ids it has rows for."""
        return self.vocabulary(len(self.model.stacks) - 1)

    @property
    def tie_output(self) -> str:
        """How to get at the output that it gives."""
        tied = self._tied
        return "" if tied is None else self.attribute(tied[1])

    @property
    def _tied(self) -> tuple[Tied, Head] | None:
        for head in self.model.heads:
            match head:
                case LanguageModelHead(projection=Tied() as tied):
                    return tied, head
                case MaskedLanguageModelHead(projection=Tied() as tied):
                    return tied, head
                case _:
                    continue
        return None

    @property
    def no_dropout(self) -> str:
        """Keyword arguments that turn all dropout off."""
        sites = [part.p.name for part in walk(self.model.stacks) if isinstance(part, Dropout)]
        return ", ".join(f"{name}=0.0" for name in dict.fromkeys(sites))

    @property
    def has_experts(self) -> bool:
        """Whether tokens choose experts."""
        return any(isinstance(part, MixtureOfExperts) for part in walk(self.model.stacks))

    @property
    def adds_one(self) -> bool:
        """Whether every norm's gain is 1 + weight, so that weights are 0 where others are 1."""
        return adds_one(self.model)

    @property
    def has_short(self) -> bool:
        """Whether queries and keys have a length that is floored."""
        return any(
            isinstance(part, Attention) and isinstance(part.qk_norm, QkL2Norm)
            for part in walk(self.model.stacks)
        )

    @property
    def short_factor(self) -> float:
        """What makes them so short: each has E features of size eps / sqrt(E)."""
        return self.facts.short_factor

    @property
    def cast_order(self) -> CastOrder | None:
        """Of the first norm whose casts the spec orders."""
        for fact in self.facts.norms:
            if isinstance(fact.norm, RmsNorm) and fact.norm.weight is not NormWeight.NONE:
                return CastOrder(fact.path, fact.norm)
        return None

    def sections(self) -> Iterator[str]:
        """The templates that this file needs, in order."""
        yield from ("header", f"inputs_{self.kind.value}", "golden", "parameters", "helpers")
        yield from ("test_golden", "test_parameters", f"test_looking_{self.kind.value}")
        if not grows(self.model):
            yield f"test_padding_{self.kind.value}"
        if self.has_cache:
            yield f"test_cache_{self.kind.value}"
        if self.model.generate:
            yield from ("test_generating", "test_sampling")
        yield "test_dropout" if self.has_dropout else "test_no_dropout"
        if self.tie is not None:
            yield "test_tie"
        if self.facts.norms:
            yield "test_norms"
        if self.cast_order is not None:
            yield "test_cast_order"
        if self.has_short:
            yield "test_short"
        yield from ("test_running", f"test_refusing_{self.kind.value}")


def _import_order(name: str) -> tuple[bool, bool, str]:
    is_constant = name.isupper() and len(name) > 1
    return name[0].islower(), not is_constant, name.lower()


def main_head(model: Model) -> Head:
    """The head whose output most tests look at: one that has places, if any has."""
    placed = (head for head in model.heads if not isinstance(head, ClassifierHead))
    return next(placed, model.heads[0])


def adds_one(model: Model) -> bool:
    """Whether every norm that has a gain multiplies by 1 + weight."""
    weights = [p.weight for p in walk(model.stacks + model.heads) if isinstance(p, Norm)]
    gains = [w for w in weights if w is not NormWeight.NONE]
    return bool(gains) and all(w is NormWeight.ONE_PLUS for w in gains)


def _ordered(numbers: Mapping[str, float | tuple[float, ...]]) -> list[tuple[str, str]]:
    """As `Config` lists them; names that it does not know go last."""
    names = sorted(numbers, key=lambda n: ORDER.index(n) if n in ORDER else len(ORDER))
    return [(name, literal(numbers[name])) for name in names]


def render_tests(model: Model, facts: Facts, module: str) -> str:
    """The text of the test file below its first line, for a model that lies in `module`.py."""
    text = FileText(model, facts, module)
    found = [section(f"tests/{name}", t=text) for name in text.sections()]
    return "\n\n".join(found) + "\n"
