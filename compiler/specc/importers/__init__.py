"""Foreign configs to specs, and foreign tensor layouts as data: the only room with foreign names.

`import_config` is the door: the text of a config goes in, the text of a spec comes out, with a
ledger that says which key each value came from. Nothing of the config is dropped in silence.
"""

from specc.importers.importing import MOST_BYTES, Imported, import_config

__all__ = ["MOST_BYTES", "Imported", "import_config"]
