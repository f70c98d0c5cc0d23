"""Published weights into those of a generated file, and back: the operations of `weights`, run.

`states` turns a `state_dict` in memory, `files` safetensors files a tensor at a time.
"""

from __future__ import annotations

from specc.convert.files import Summary, convert_to_ours, convert_to_published
from specc.convert.problems import ConvertError
from specc.convert.states import Converted, to_ours, to_theirs

__all__ = [
    "ConvertError",
    "Converted",
    "Summary",
    "convert_to_ours",
    "convert_to_published",
    "to_ours",
    "to_theirs",
]
