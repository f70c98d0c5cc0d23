"""The command `specc`: the only room that prints or exits.

Exit codes: 0 fine, 1 drift or a failed check, 2 a bad spec, an unreadable file or wrong usage, 3 an
internal error, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import gc
import sys
from typing import NoReturn

from specc.cli.guard import guarded


def main() -> NoReturn:
    """Run the command line of this process and exit."""
    gc.set_threshold(100_000)  # a compilation is over before a hunt for garbage pays
    sys.exit(guarded(sys.argv[1:]))
