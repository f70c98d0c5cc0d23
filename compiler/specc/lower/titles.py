"""What a model is called: its class and its title, from its name unless the spec says."""

from __future__ import annotations

from specc.spec import schema


def class_name(spec: schema.Spec) -> str:
    """`class:` or the name in CamelCase: vaswani_base -> VaswaniBase."""
    return spec.class_name or camel_case(spec.name)


def title(spec: schema.Spec) -> str:
    """`title:` or the name with spaces: vaswani_base -> Vaswani base."""
    words = spec.name.replace("_", " ").strip()
    return spec.title or words[:1].upper() + words[1:]


def camel_case(name: str) -> str:
    """snake_case -> SnakeCase; digits stay where they are."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))
