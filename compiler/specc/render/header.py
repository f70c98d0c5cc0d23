"""The docstring at the top of the file, the letters of its shape comments, and its `Config`."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from specc.ir.attention import Attention
from specc.ir.feed_forward import Router
from specc.ir.model import Claim, Kind, Model
from specc.ir.parameters import parameter_count
from specc.ir.positions import Rotary
from specc.ir.sizes import Constant, Number, Size, Vector
from specc.ir.walk import config_fields, walk
from specc.render.citations import Citations
from specc.render.code import comment, docstring, literal
from specc.render.engine import section

KINDS = {
    Kind.DECODER: "a decoder-only language model",
    Kind.ENCODER: "a bidirectional encoder",
    Kind.ENCODER_DECODER: "an encoder-decoder",
    Kind.FEATURES: "cross-attention from one set of features to another",
}

LEGEND = {
    "B": "batch",
    "T": "new tokens",
    "S": "all tokens so far",
    "P": "tokens in reach",
    "M": "memory places",
    "V": "vocabulary",
    "D": "model width",
    "H": "query heads",
    "K": "key/value heads",
    "E": "head width",
    "R": "turned features",
    "N": "unturned features",
    "U": "value width",
    "L": "latent width",
    "Q": "query latent width",
    "W": "embedding width",
    "F": "feed-forward width",
    "C": "classes",
    "X": "experts",
    "A": "chosen experts",
    "G": "expert groups",
    "J": "an expert's tokens",
    "I": "product inputs",
    "Z": "block outputs",
}

ORDER = [
    "vocab_size",
    "max_seq_len",
    "n_types",
    "n_layers",
    "n_encoder_layers",
    "n_decoder_layers",
    "d_model",
    "n_heads",
    "n_kv_heads",
    "head_dim",
    "rotary_dim",
    "d_ff",
    "n_experts",
    "top_k",
    "n_groups",
    "n_kept_groups",
    "n_classes",
    "norm_eps",
    "embedding_norm_eps",
    "final_norm_eps",
    "qk_norm_eps",
    "rope_theta",
    "rope_factor",
    "rope_low_freq_factor",
    "rope_high_freq_factor",
    "rope_original_max_seq_len",
    "attention_scale",
    "attention_scale_width",
    "embedding_scale",
    "router_scale",
    "router_renorm_eps",
    "clamp_alpha",
    "clamp_limit",
    "clamp_up_offset",
    "dropout",
]

KIND_NAMES = {Size: "int", Constant: "float", Vector: "tuple[float, ...]"}

SHAPE = re.compile(r"\[[A-Z0-9][A-Z0-9a-z_*+/, ]*\]")


@dataclass(frozen=True)
class Field:
    """One line of `Config`."""

    name: str
    type: str
    value: str
    comments: tuple[str, ...]  # above the line
    remark: str  # behind it


@dataclass(frozen=True)
class Check:
    """What `Config` refuses: a condition, and the message as an f-string's source."""

    wrong: str
    message: str


def config_section(model: Model, cite: Citations) -> str:
    """The `Config` class, with the spec's numbers as defaults."""
    numbers = sorted(config_fields(model), key=_place)
    return section(
        "model/config",
        owner=(
            "the paper's"
            if model.paper is not None and model.paper.claim is not None
            else "the spec's"
        ),
        fields=[_field(number, cite.of_number(number.name)) for number in numbers],
        checks=_checks(model),
    )


def _field(number: Number, cited: str) -> Field:
    """The citation goes behind the number where the line has room, else above it."""
    kind = KIND_NAMES[type(number)]
    value = literal(number.values if isinstance(number, Vector) else number.value)
    room = 88 - len(f"    {number.name}: {kind} = {value}  # ")
    if len(cited) <= room:
        return Field(number.name, kind, value, (), cited)
    return Field(number.name, kind, value, comment(cited) if cited else (), "")


def _place(number: Number) -> tuple[bool, int, str]:
    """Sizes before constants, each in the order that readers expect."""
    return not isinstance(number, Size), _rank(number.name), number.name


def _rank(name: str) -> int:
    fitting = [base for base in ORDER if name == base or name.startswith(f"{base}_")]
    return ORDER.index(max(fitting, key=len)) if fitting else len(ORDER)


def _checks(model: Model) -> list[Check]:
    found: dict[str, str] = {}
    for part in walk(model.stacks):
        if isinstance(part, Attention) and part.is_grouped:
            many, few = part.n_heads.name, part.n_kv_heads.name
            found[f"self.{many} % self.{few}"] = _message(
                f"{many}={{self.{many}}} is no multiple of ", f"{few}={{self.{few}}}"
            )
        if isinstance(part, Rotary):
            name = part.rotary_dim.name
            found[f"self.{name} % 2"] = _message(
                f"{name}={{self.{name}}} ", "must be even: pairs turn"
            )
            if part.is_partial:
                head = part.head_dim.name
                found[f"self.{name} > self.{head}"] = _message(
                    f"{name}={{self.{name}}} is more than ", f"{head}={{self.{head}}}"
                )
        if isinstance(part, Router):
            found |= _of_router(part)
    return [Check(wrong, message) for wrong, message in found.items()]


def _of_router(part: Router) -> dict[str, str]:
    """Experts enough to choose from, in whole groups."""
    chosen, many = f"self.{part.top_k.name}", f"self.{part.n_experts.name}"
    found = {f"{chosen} > {many}": _message(f"top_k {{{chosen}}} > ", f"{{{many}}} experts")}
    if part.groups is not None:
        groups, kept = f"self.{part.groups.n_groups.name}", f"self.{part.groups.n_kept.name}"
        found[f"{many} % {groups}"] = _message(f"no {{{groups}}} equal groups of ", f"{{{many}}}")
        found[f"{chosen} * {groups} > {many} * {kept}"] = _message(
            f"top_k {{{chosen}}} > ", f"{{{kept}}} groups of experts"
        )
    return found


def _message(first: str, second: str) -> str:
    """One f-string, or two where its line would be too long."""
    whole = f'f"{first}{second}"'
    if len(whole) <= 88 - 16:
        return whole
    return f'f"{first}" {"f" if "{" in second else ""}"{second}"'


def header_section(model: Model, body: str, cite: Citations) -> str:
    """The docstring; read after all else is rendered, since it lists what the body uses."""
    rows: list[tuple[str, str]] = []
    if model.paper is not None:
        where = f"arXiv:{model.paper.arxiv}" if model.paper.arxiv else model.paper.url
        rows.append(("Paper", model.paper.title + (f", {where}" if where else "")))
    count = f"{parameter_count(model):,}"
    claim = model.paper.claim if model.paper is not None else None
    rows.append(("Parameters", count + (f" (the paper says {_short(claim)})" if claim else "")))
    rows.append(("Needs", "torch >= 2.5"))
    first = f'"""{docstring(model.title)}: {KINDS[model.kind]}.'
    text = [*textwrap.wrap(first, 88, break_on_hyphens=False, break_long_words=False), ""]
    for label, value in rows:
        text += _row(label, docstring(value))
    text += ["", *_legend(body)]
    rest = cite.rest()
    if rest:
        text.append("")
        for i, citation in enumerate(rest):
            text += _row("" if i else "Choices", docstring(f"{citation.path}: {citation.text}"))
    return "\n".join([*text, '"""'])


def _row(label: str, value: str) -> list[str]:
    return textwrap.wrap(
        value,
        86,
        initial_indent=f"{label:<12}",
        subsequent_indent=" " * 12,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _legend(body: str) -> list[str]:
    used = {letter for shape in SHAPE.findall(body) for letter in re.findall(r"\b[A-Z]\b", shape)}
    entries = [f"{letter} {meaning}" for letter, meaning in LEGEND.items() if letter in used]
    rows = [entries[i : i + 3] for i in range(0, len(entries), 3)]
    return [
        (f"{'Shapes' if i == 0 else '':<12}" + "".join(f"{entry:<21}" for entry in row)).rstrip()
        for i, row in enumerate(rows)
    ]


def _short(claim: Claim) -> str:
    """65,000,000 as `65M`, 1,230,000,000 as `1.23B`."""
    for unit, name in ((10**9, "B"), (10**6, "M"), (10**3, "K")):
        if claim.parameters >= unit:
            return f"{claim.parameters / unit:.4g}{name}"
    return str(claim.parameters)
