"""The long proofs, which `make prove` runs; each writes a table into docs/proofs."""
