"""From the IR to the text of a file, through Jinja. The part -> template tables of this room are
the only ones.
"""

from specc.render.model import render

__all__ = ["render"]
