"""What stops a conversion, in a sentence for the person who asked for it."""

from __future__ import annotations


class ConvertError(Exception):
    """A file that cannot be read, converted or written; the message says which, and what to do."""
