"""The one error of this room: a file that cannot or must not be written, said in one sentence."""


class EmitError(Exception):
    """Nothing was written."""
