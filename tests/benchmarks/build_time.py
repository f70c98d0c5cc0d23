"""How long `specc build` of one spec takes, against importing its dependencies: medians, side by
side.

Run by `make bench`. Exits with 1 above the budget.
"""

import statistics
import subprocess
import sys
import time

BUDGET = 2.5
RUNS = 10
IMPORTS = "import pydantic, jinja2, black, libcst, ruamel.yaml, typer, rich"
COMMANDS = {
    "import the dependencies": [sys.executable, "-c", IMPORTS],
    "specc build": [sys.executable, "-m", "specc", "build", "specs/gpt2.yaml", "-o", "-"],
}


def seconds(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def main() -> int:
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, command in COMMANDS.items():
            times[name].append(seconds(command))
    imports, build = (statistics.median(times[name]) for name in COMMANDS)
    print(f"import the dependencies  {imports:.3f} s")
    print(f"specc build              {build:.3f} s")
    print(f"ratio                    {build / imports:.2f} (budget {BUDGET})")
    return int(build / imports > BUDGET)


if __name__ == "__main__":
    sys.exit(main())
