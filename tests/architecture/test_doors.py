"""Who may import whom: the table of the design, held by a walk over every import statement."""

import pytest

from tests.architecture.rooms import DOORS, Module, imports, is_standard, modules


def forbidden(module: Module) -> list[str]:
    door = DOORS[module.room]
    found = []
    for name in imports(module.tree):
        package, _, inside = name.partition(".")
        if package == "specc":
            room = inside.partition(".")[0]
            if room not in {module.room, *door.rooms} and room != "__version__":
                found.append(name)
        elif not is_standard(package) and package not in door.packages:
            found.append(name)
    return found


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.id)
def test_a_room_imports_only_what_its_door_allows(module):
    assert forbidden(module) == []


def test_every_room_has_a_door():
    assert {module.room for module in modules()} <= set(DOORS)


def test_the_ir_knows_nothing_of_the_compiler():
    assert DOORS["ir"].rooms == frozenset()
