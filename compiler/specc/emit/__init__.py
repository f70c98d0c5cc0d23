"""Text to disk and back: what a build would change (`plan`), and the change itself (`write`)."""

from __future__ import annotations

from specc.emit.disk import write
from specc.emit.errors import EmitError
from specc.emit.plan import Entry, Plan, State, plan
from specc.emit.stamp import is_untouched, stamp

__all__ = ["EmitError", "Entry", "Plan", "State", "is_untouched", "plan", "stamp", "write"]
