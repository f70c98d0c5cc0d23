"""The text of a test file to vendor beside a model: what it checks follows from the IR alone, the
numbers that it expects come in as `Facts`.
"""

from specc.render.tests.facts import Dropped, Facts, NormFact, ParameterFact, Rows
from specc.render.tests.text import main_head, render_tests

__all__ = ["Dropped", "Facts", "NormFact", "ParameterFact", "Rows", "main_head", "render_tests"]
