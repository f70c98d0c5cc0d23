"""`specc init`: a commented spec to start from, which builds at once."""

from __future__ import annotations

from pathlib import Path

from specc.cli.failure import Code, Failure
from specc.cli.out import say
from specc.cli.sources import near
from specc.diagnostics import Diagnostic, SpecError
from specc.pipeline import compile_spec
from specc.project import ProjectError, find_project
from specc.spec import style as style_line
from specc.spec.quoting import quoted
from specc.spec.tree import Mapping, Mark, Scalar

STYLE = "decoder, pre-norm, rms norm, rotary, swiglu, tied weights"

TEXT = """\
# Every choice that makes this model. `specc explain FIELD` says what a field means and what else
# it can be; `specc explain` with this file writes out every default.
specc: 1
name: {name}
# paper:
#   title: Attention Is All You Need
#   arxiv: "1706.03762"
#   claims: {{parameters: 65e6, tolerance: 4%}}  # verified against the real count

# Each word sets fields, as a reader of the paper would say it; what stands below overrides it.
style: {style}
{completed}
# Sizes; they may be arithmetic over one another, such as "4 * d_model".
{sizes}
attention: {{n_heads: 8}}  # more: n_kv_heads, head_dim, bias, scale, qk_norm
feed_forward: {{{activation}d_ff: 4 * d_model}}
# dropout: 0.1  # everywhere, or at embedding, attention, attention_out, ff_hidden, ff_out apart
# init: {{kind: normal, std: 0.02, outputs: depth_scaled}}

# Where the choices come from: stated (say where, and quote), figure, official_code,
# unstated (say why it was chosen), deviates (say why).
ledger:
  block.norm_placement: {{status: unstated, because: "a first guess: look for it in the paper"}}
"""


def init(name: str, style: str) -> Code:
    """Write NAME.yaml into the project's folder of specs, else here. Raises `Failure`."""
    text = _spec_text(name, style or STYLE)
    try:
        compile_spec(text=text)
    except SpecError as error:
        raise Failure("; ".join(_plainly(each) for each in error.diagnostics)) from error
    file = _folder() / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise Failure(f"{file} exists already") from error
    say(f"wrote {file}")
    say(f"next: specc build {file}")
    return Code.FINE


def _spec_text(name: str, style: str) -> str:
    said = _said(style)
    kind = said.word("kind") or "decoder"
    completed = [f"kind: {kind}"] if said.word("kind") is None else []
    if said.mapping("block").get("norm_placement") is None:
        completed.append("block: {norm_placement: pre}")
    if kind != "features" and said.mapping("position").word("kind") is None:
        completed.append("position: rope")
    sizes = ["d_model: 512", "n_layers: 6"]
    if kind != "features":
        sizes = ["vocab_size: 32000", *sizes, "max_seq_len: 2048"]
    speaks_of_activation = said.mapping("feed_forward").word("activation") is not None
    return TEXT.format(
        name=quoted(name),
        style=quoted(style),
        completed="".join(f"{line}  # the style words leave it open\n" for line in completed),
        sizes="\n".join(sizes),
        activation="" if speaks_of_activation else "activation: gelu_erf, ",
    )


def _said(style: str) -> Mapping:
    """What the style words set. Raises `Failure`."""
    found = style_line.words(Scalar(style, Mark(None, "style", ("style",)), style), "")
    problems = list(style_line.problems(found))
    if problems:
        raise Failure("; ".join(_plainly(problem) for problem in problems))
    return style_line.tree(found)


def _plainly(diagnostic: Diagnostic) -> str:
    """Without place or line: the text is ours, and nobody has seen it."""
    hint = f" ({diagnostic.hint})" if diagnostic.hint else ""
    return f"{diagnostic.message}{hint}"


def _folder() -> Path:
    try:
        project = find_project(Path.cwd())
    except ProjectError as error:
        raise Failure(str(error)) from error
    return near(project.specs) if project else Path()
