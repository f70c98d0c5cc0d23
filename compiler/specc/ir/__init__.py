"""The intermediate representation: frozen dataclasses in which nothing is left to decide."""
