"""How fast the compiler and the generated files are; `make bench` runs what is here."""
