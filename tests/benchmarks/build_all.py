"""How long `specc build` of all specs takes once it has started, a second `specc check` with
nothing changed, and where the time goes.

Seconds are those of this process's one thread at work, so that a busy machine counts the same; the
clock on the wall stands beside them. Run by `make bench`. Exits with 1 above the budget for a spec.
"""

import contextlib
import gc
import io
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

BUDGET = 0.120
RUNS = 3
SPECS = sorted(Path("specs").glob("*.yaml"))
STAGES = ("load", "lower", "render", "tidy")

spent: dict[str, float] = defaultdict(float)


@contextlib.contextmanager
def timed(name: str) -> Iterator[None]:
    start = time.process_time()
    try:
        yield
    finally:
        spent[name] += time.process_time() - start


def watched(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    def wrapper(*arguments: Any, **named: Any) -> Any:
        with timed(name):
            return run(*arguments, **named)

    return wrapper


def seconds(*arguments: str) -> tuple[float, float]:
    """One command line in this process: at work, and on the wall."""
    from specc.cli.guard import guarded

    forget()
    start, wall = time.process_time(), time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        code = guarded(arguments)
    if code:
        raise SystemExit(f"specc {' '.join(arguments)} ended with {code}")
    return time.process_time() - start, time.perf_counter() - wall


def forget() -> None:
    """Format every class and function anew, as a process of its own would."""
    from specc.rewrite.blacken import _formatted

    _formatted.cache_clear()


def alone() -> dict[str, float]:
    """Each spec as if there were no other."""
    from specc.pipeline import compile_spec

    times = {}
    for spec in SPECS:
        forget()
        start = time.process_time()
        compile_spec(spec)
        times[spec.stem] = time.process_time() - start
    return times


def main() -> int:
    gc.set_threshold(100_000)  # as the command does
    count = len(SPECS)
    with tempfile.TemporaryDirectory() as folder:
        started, wall = seconds("build", str(SPECS[0]), "-o", folder)
        print(f"start-up and a first build{started:8.2f} s {wall:8.2f} s on the wall")
        from specc import pipeline

        times_alone = alone()
        for stage in STAGES:
            setattr(pipeline, stage, watched(stage, vars(pipeline)[stage]))
        totals = {}
        for verb in ("build", "check"):
            times = [seconds(verb, *map(str, SPECS), "-o", folder) for _ in range(RUNS)]
            totals[verb], wall = map(statistics.median, zip(*times, strict=True))
            each = totals[verb] / count * 1e3
            print(
                f"{verb} of {count} specs{totals[verb]:17.2f} s {wall:8.2f} s on the wall"
                f"{each:8.1f} ms a spec"
            )
            show_stages(sum(work for work, _ in times), RUNS * count)
    slowest = max(times_alone, key=lambda name: times_alone[name])
    print(
        f"a spec alone: median {statistics.median(times_alone.values()) * 1e3:.1f} ms,"
        f" slowest {times_alone[slowest] * 1e3:.1f} ms ({slowest})"
    )
    each = totals["build"] / count
    print(f"build: {each * 1e3:.1f} ms a spec, budget {BUDGET * 1e3:.0f}")
    return int(each > BUDGET)


def show_stages(whole: float, runs: int) -> None:
    """Where a verb's time went, a spec."""
    parts = {stage: spent[stage] for stage in STAGES}
    for stage, time_of in {**parts, "the rest": whole - sum(parts.values())}.items():
        print(f"  {stage:<10}{time_of / runs * 1e3:8.1f} ms a spec {time_of / whole:7.1%}")
    spent.clear()


if __name__ == "__main__":
    sys.exit(main())
