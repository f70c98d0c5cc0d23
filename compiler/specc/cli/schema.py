"""`specc schema`: the JSON Schema of the language as it is written, for editors."""

from __future__ import annotations

import json

from specc.cli.failure import Code
from specc.cli.out import say
from specc.spec.json_schema import json_schema


def schema() -> Code:
    """Print it."""
    say(json.dumps(json_schema(), indent=2))
    return Code.FINE
