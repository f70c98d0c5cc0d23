"""The methods that continue texts: a stream of new tokens, and all of them at once."""

from __future__ import annotations

from dataclasses import dataclass

from specc.ir.heads import LanguageModelHead
from specc.ir.model import Kind, Model
from specc.render.engine import section
from specc.render.methods import SOURCE, SOURCE_MASK, Forward

CHOICE = (
    "temperature: float = 0.0,  # 0: always the likeliest",
    "top_k: int | None = None,  # of so many tokens",
    "top_p: float | None = None,  # of the fewest that are so likely together",
    "stop_token: int | None = None,",
    "generator: torch.Generator | None = None,",
)


@dataclass(frozen=True)
class GenerateText:
    """What the templates of both methods print. `limit` is the `Config` name of the most tokens."""

    is_translating: bool
    limit: str | None
    output: str | None  # the field of `Output` that holds the logits
    follows_length: bool

    @property
    def tokens(self) -> str:
        return "target" if self.is_translating else "tokens"

    @property
    def mask(self) -> str:
        return "target_mask" if self.is_translating else "token_mask"

    @property
    def what(self) -> str:
        return "targets" if self.is_translating else "texts"

    @property
    def move(self) -> str:
        """What becomes of the first tensor's shape, if that is the text."""
        return "[B, S]" if self.is_translating else "[B, T] -> [B, S]"

    @property
    def parameters(self) -> list[str]:
        masks = f"{self.mask}: Tensor | None = None,  # [B, T] bool, False = padding, left"
        own = [f"{self.tokens}: Tensor,  # [B, T]", "max_new_tokens: int,"]
        if self.is_translating:
            return [SOURCE, *own, SOURCE_MASK, masks, *CHOICE]
        return [*own, masks, *CHOICE]

    @property
    def arguments(self) -> str:
        """What stands before the choice of a token."""
        return ", ".join(line.split(":")[0] for line in self.parameters[: -len(CHOICE)])

    @property
    def before(self) -> list[str]:
        """What is done once."""
        found = []
        if self.is_translating:
            found.append("memory = self.encode(source, source_mask)  # [B, M, D]")
        if self.follows_length:
            found.append("# Frequencies follow the room: other numbers of tokens turn otherwise.")
        return found

    @property
    def call(self) -> str:
        given = "memory, source_mask, " if self.is_translating else ""
        function = "self.decode" if self.is_translating else "self"
        output = "" if self.output is None else f".{self.output}"
        return f"{function}({self.tokens}, {given}{self.mask}, cache, last_only=True){output}"


def generating(model: Model, forward: Forward) -> list[str]:
    """The text of the methods; none where the spec asks for none."""
    if not model.generate:
        return []
    name = next(h.output_name for h in model.heads if isinstance(h, LanguageModelHead))
    text = GenerateText(
        model.kind is Kind.ENCODER_DECODER,
        forward.max_seq_len,
        name if forward.returns == "Output" else None,
        forward.stacks[-1].reads_length,
    )
    return [section("model/stream", g=text), section("model/generate", g=text)]
