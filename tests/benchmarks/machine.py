"""What the times were measured on, in words."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path

import torch

from tests.benchmarks.peers import versions


def described(threads: int) -> dict[str, str]:
    """Processor, memory, versions and the day; peers that are not installed say so."""
    known = {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "processor": _line("/proc/cpuinfo", "model name") or platform.processor(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "cores": f"{os.cpu_count()}, of which {threads} threads compute",
        "memory": _memory(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
        "torch": torch.__version__,
    }
    return known | {name: found or "absent" for name, found in versions().items()}


def in_short(machine: Mapping[str, object]) -> str:
    """What `described` says, as far as a page of one table needs it."""
    return ", ".join(f"{name} {machine[name]}" for name in ("processor", "torch", "cores"))


def load() -> float:
    """Processes that wanted a core over the last minute; 0 where the system does not say."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def _memory() -> str:
    kilobytes = _line("/proc/meminfo", "MemTotal").split(" ")[0]
    return f"{int(kilobytes) / 2**20:.0f} GiB" if kilobytes else "unknown"


def _line(file: str, key: str) -> str:
    """What a file of Linux says of a key; nothing elsewhere."""
    path = Path(file)
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")
