"""The test suite. Helpers are imported from here as `tests.<room>.<module>`."""
