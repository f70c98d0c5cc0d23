"""The verbs and their options. Each has a module of its own, imported when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from specc.cli.failure import Code, Failure
from specc.cli.out import say
from specc.cli.table import CardFormat, Format, Library, Target

app = typer.Typer(
    help="Compile transformer specs (YAML) to standalone, verified PyTorch files.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Specs = Annotated[
    list[Path] | None,
    typer.Argument(metavar="[SPEC|DIR]...", help="Specs, or folders of specs.", show_default=False),
]
Output = Annotated[
    str | None,
    typer.Option(
        "-o", "--output", metavar="DIR|FILE|-", help="Where to; - is stdout.", show_default=False
    ),
]
Strict = Annotated[
    bool,
    typer.Option("--strict", help="Refuse a choice that the ledger does not account for."),
]
WithTests = Annotated[
    bool,
    typer.Option(
        "--with-tests",
        help="Also test_NAME.py beside each model, with frozen golden numbers. Needs torch."
        " The project says it for itself with tests = true under [tool.specc].",
    ),
]

WithLoader = Annotated[
    bool,
    typer.Option(
        "--with-loader",
        help="Also a function load_huggingface in each file, for weights as published."
        " The project says it for itself with loader = true under [tool.specc].",
    ),
]

MOST_TOKENS = 1 << 40  # of a text, or texts: what no machine holds


def _show_version(wanted: bool) -> None:
    if wanted:
        from specc import __version__

        say(f"specc {__version__}")
        raise typer.Exit


def _end(code: Code) -> None:
    if code is not Code.FINE:
        raise typer.Exit(code)


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Compile transformer specs (YAML) to standalone, verified PyTorch files."""


@app.command()
def init(
    name: Annotated[str, typer.Argument(help="Of the model: lower case, a Python name.")],
    style: Annotated[
        str, typer.Argument(metavar='["STYLE WORDS"]', help='"decoder, pre-norm, rms norm, rotary"')
    ] = "",
) -> None:
    """Write a commented spec to start from."""
    from specc.cli.init import init as run

    _end(run(name, style))


@app.command(name="import")
def import_(
    config: Annotated[
        str, typer.Argument(metavar="CONFIG", help="A config.json, its folder, or - for stdin.")
    ],
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="SPEC|DIR|-",
            help="Where to; else stdout.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="Of the spec; else from the config or its folder.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Turn a Hugging Face config into a spec, with the key that each value came from."""
    from specc.cli.importing import import_spec as run

    _end(run(config, output, name, force=force))


@app.command()
def convert(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="Of the model.")],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="A safetensors file, an index of shards, or their folder."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="OUT", help="A .safetensors file, or a folder."),
    ],
    to: Annotated[
        Target, typer.Option("--to", help="For the generated file, or as published.")
    ] = Target.OURS,
    layout: Annotated[
        str | None,
        typer.Option(
            "--layout", help="How SOURCE is stored; else source.layout.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")] = False,
) -> None:
    """Convert published weights for a generated file, or back. Needs torch and safetensors."""
    from specc.cli.convert import convert as run

    _end(run(spec, source, output, back=to is Target.HF, layout=layout, force=force))


@app.command()
def build(
    specs: Specs = None,
    output: Output = None,
    force: Annotated[
        bool, typer.Option("--force", help="Overwrite files that were edited by hand.")
    ] = False,
    strict: Strict = False,
    with_tests: WithTests = False,
    with_loader: WithLoader = False,
) -> None:
    """Compile specs. Without an argument: what [tool.specc] in pyproject.toml names."""
    from specc.cli.build import build as run

    wanted = {"with_tests": with_tests, "with_loader": with_loader}
    _end(run(specs or [], output, force=force, strict=strict, **wanted))


@app.command()
def check(
    specs: Specs = None,
    output: Output = None,
    strict: Strict = False,
    with_tests: WithTests = False,
    with_loader: WithLoader = False,
) -> None:
    """Show as a diff what a build would change. Exit code 1 when there is something."""
    from specc.cli.check import check as run

    wanted = {"with_tests": with_tests, "with_loader": with_loader}
    _end(run(specs or [], output, strict=strict, **wanted))


@app.command()
def verify(
    specs: Annotated[list[Path], typer.Argument(metavar="SPEC...", help="The specs to verify.")],
    file: Annotated[
        Path | None,
        typer.Option("--file", help="Check this file against the spec, not a fresh build."),
    ] = None,
    mutants: Annotated[
        bool,
        typer.Option(
            "--mutants", help="Break the file in every way that is known: the checks must notice."
        ),
    ] = False,
    against: Annotated[
        Library | None,
        typer.Option(
            "--against",
            help="Compare with the library that its published weights come from."
            " Needs transformers.",
            show_default=False,
        ),
    ] = None,
    how: Annotated[Format, typer.Option("--format", help="How to print.")] = Format.TABLE,
) -> None:
    """Prove that a generated file computes what its spec says. Needs torch."""
    from specc.cli.verify import verify as run
    from specc.cli.verify import verify_against, verify_mutants

    if mutants and against is not None:
        raise Failure("--mutants and --against are two runs")
    chosen = verify_mutants if mutants else run if against is None else verify_against
    _end(chosen(specs, file, how))


@app.command()
def shapes(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A model file; it is executed.")],
) -> None:
    """Run a model file, generated or edited, and check its shape comments. Needs torch."""
    from specc.cli.shapes import shapes as run

    _end(run(file))


@app.command()
def explain(
    subject: Annotated[
        str, typer.Argument(metavar="SPEC|FIELD", help="A spec, or such as norm.eps.")
    ],
) -> None:
    """Show a spec with every default written out, or what a field means."""
    from specc.cli.explain import explain as run

    _end(run(subject))


@app.command()
def card(
    spec: Annotated[Path, typer.Argument(metavar="SPEC", help="Of the model.")],
    length: Annotated[
        int | None,
        typer.Option(
            "--length",
            min=1,
            max=MOST_TOKENS,
            help="Tokens of a text; else max_seq_len, but at most 2048.",
            show_default=False,
        ),
    ] = None,
    batch: Annotated[int, typer.Option("--batch", min=1, max=MOST_TOKENS, help="Texts.")] = 1,
    how: Annotated[CardFormat, typer.Option("--format", help="How to print.")] = CardFormat.TABLE,
) -> None:
    """Tell what a model costs: parameters, FLOPs, cache, activations, weights. Needs no torch."""
    from specc.cli.card import card as run

    _end(run(spec, length, batch, how))


@app.command()
def schema() -> None:
    """Print the JSON Schema of the language, for editors."""
    from specc.cli.schema import schema as run

    _end(run())
