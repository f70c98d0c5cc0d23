"""`specc convert`: a published checkpoint for a generated file, or back, a tensor at a time."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from specc.cli.failure import Code, Failure
from specc.cli.out import is_colourful, say
from specc.pipeline import read_model

if TYPE_CHECKING:
    from specc.convert import Summary
    from specc.weights import Layout

NEEDS = "specc convert needs torch and safetensors: pip install 'torch-specc[convert]'"
MEGA = 1e6


def convert(
    spec: Path, source: Path, output: Path, *, back: bool, layout: str | None, force: bool
) -> Code:
    """Write the converted file and say what was done. Raises `Failure` and `SpecError`."""
    _need_packages()
    from specc.convert import ConvertError, convert_to_ours, convert_to_published
    from specc.weights import WeightsError

    model = read_model(spec)
    chosen = _layout(layout or model.layout, spec)
    run = convert_to_published if back else convert_to_ours
    start = perf_counter()
    try:
        with _ended_cleanly(), _bar() as progress:
            summary = run(model, chosen, source, output, progress, force=force)
    except ConvertError as error:
        raise Failure(str(error)) from error
    except WeightsError as error:
        raise Failure(f"{source} does not fit {spec}:\n{error}") from error
    _tell(summary, perf_counter() - start)
    return Code.FINE


def _layout(name: str | None, spec: Path) -> Layout:
    from difflib import get_close_matches

    from specc.importers.layouts import LAYOUTS

    if name is None:
        raise Failure(
            f"{spec} does not say how its weights are stored: add source.layout, or give --layout"
            f" (there are {', '.join(sorted(LAYOUTS))})"
        )
    if name not in LAYOUTS:
        close = get_close_matches(name, LAYOUTS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"there are {', '.join(sorted(LAYOUTS))}"
        raise Failure(f"no layout {name!r}: {hint}")
    return LAYOUTS[name]


def _tell(summary: Summary, seconds: float) -> None:
    for name, why in summary.dropped:
        say(f"left out: {name} ({why})")
    say(
        f"wrote {summary.target}: {summary.read} tensors became {summary.written},"
        f" {summary.size / MEGA:,.1f} MB in {seconds:.1f} s"
    )


@contextmanager
def _bar() -> Iterator[Callable[[int, int], None]]:
    """A progress bar where a person looks, and silence elsewhere."""
    if not is_colourful(sys.stderr):
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    columns = ("converting", BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("converting")
        yield lambda done, size: bar.update(task, completed=done, total=size)


@contextmanager
def _ended_cleanly() -> Iterator[None]:
    """A polite request to end unwinds the stack, so that nothing half-written stays."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _need_packages() -> None:
    if any(find_spec(name) is None for name in ("safetensors", "torch")):
        raise Failure(NEEDS)
