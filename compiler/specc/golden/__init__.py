"""The second, independent meaning of the IR: an interpreter in plain tensors, by the definition.

It shares no code, no template and no fused kernel with the generated files, which are tested
against it.
"""

from specc.golden.inputs import Inputs
from specc.golden.norms import norm
from specc.golden.run import Result, run

__all__ = ["Inputs", "Result", "norm", "run"]
