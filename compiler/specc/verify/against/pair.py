"""Ours and the library's model of one spec, small and with the same stress weights.

The weights start as ours, go to the library as a published checkpoint, and come back from it: both
directions of the conversion stand between the two models.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor, nn

from specc.convert import Converted, to_ours, to_theirs
from specc.golden import Inputs
from specc.importers.hf_configs import Dialect, Facts
from specc.ir.model import Model
from specc.ir.positions import LearnedPosition, Rotary
from specc.ir.walk import resize, walk
from specc.verify.against.library import Question, Theirs, build
from specc.verify.calls import Outputs, call
from specc.verify.live import reset
from specc.verify.loading import LoadedFile
from specc.verify.sizes import reduced_numbers, reduced_sizes
from specc.verify.texts import make_texts
from specc.verify.weights import stress_weights
from specc.weights import Layout

ROWS, LENGTH = 3, 17
PADDING = (0, 3, 6)  # tokens of each row that are none

Numbers = dict[str, int | float | tuple[float, ...]]


@dataclass(frozen=True)
class Pair:
    """One spec's model and file, and the dialect and layout that say it."""

    model: Model
    file: LoadedFile
    dialect: Dialect
    layout: Layout
    room: int | None = None  # positions, where the usual few do not do
    varied: bool = False  # weights that continue texts in many ways

    @cached_property
    def numbers(self) -> Numbers:
        """What a reduced `Config` holds: small, awkward, and such as the library allows."""
        sizes = reduced_sizes(self.model)
        if self.room is not None and "max_seq_len" in sizes:
            sizes["max_seq_len"] = self.room
        sizes |= self.dialect.sizes(Facts(resize(self.model, sizes)))
        return {**sizes, **reduced_numbers(self.model, sizes)}

    @cached_property
    def small(self) -> Model:
        return resize(self.model, self.numbers)

    @cached_property
    def padded_numbers(self) -> Numbers:
        """The same with what the library cannot do beside padding switched off."""
        return {**self.numbers, **self.dialect.padded(Facts(self.small))}

    @cached_property
    def weights(self) -> dict[str, Tensor]:
        """Stress weights of ours, float32."""
        stress = stress_weights(self.small)
        given = make_texts(self.small, stress).weights if self.varied else stress
        return {name: tensor.float() for name, tensor in given.items()}

    @cached_property
    def sent(self) -> Converted:
        """What the library is given."""
        return to_theirs(self.small, self.layout, self.weights)

    @cached_property
    def published(self) -> dict[str, Tensor]:
        """What the library gives back, as it would save it."""
        return self.theirs(torch.float32).published()

    @cached_property
    def received(self) -> Converted:
        """That as ours again."""
        return to_ours(self.small, self.layout, self.published)

    def theirs(self, dtype: torch.dtype, *, padded: bool = False) -> Theirs:
        """The library's model."""
        model = resize(self.model, self.padded_numbers if padded else self.numbers)
        return build(model, self.dialect, self.sent.tensors, dtype)

    def ours(self, dtype: torch.dtype, *, padded: bool = False) -> nn.Module:
        """The file's model with what came back."""
        numbers = self.padded_numbers if padded else self.numbers
        live = self.file.model_class(self.file.config_class(**numbers)).to(dtype)
        if dtype is torch.float64:
            reset(live)  # tables anew, in float64
        live.load_state_dict(self.received.tensors, strict=True)
        return live.eval()

    def answer(self, live: nn.Module, question: Question) -> Outputs:
        """Our outputs by name."""
        inputs = Inputs(
            tokens=question.tokens, token_mask=question.real, token_types=question.types
        )
        with torch.no_grad():
            return call(live, self.small, inputs)

    @cached_property
    def length(self) -> int:
        """Tokens a row: beyond every window, and as many as there are positions for."""
        tables = [p for p in walk(self.small.stacks) if isinstance(p, Rotary | LearnedPosition)]
        return min([LENGTH, *(table.size.value for table in tables)])

    def question(self, pad: str = "", rows: int = ROWS) -> Question:
        """Random tokens; `pad` is the side of the padding."""
        part = Facts(self.small).input
        generator = torch.Generator().manual_seed(rows)
        shape = (rows, self.length)
        tokens = torch.randint(part.embedding.rows.value, shape, generator=generator)
        types = None
        if part.types is not None:
            types = torch.randint(part.types.rows.value, shape, generator=generator)
        if not pad:
            return Question(tokens, None, types)
        real = torch.arange(self.length)[None] >= torch.tensor(PADDING[:rows])[:, None]
        return Question(tokens, real if pad == "left" else real.flip(-1), types)
