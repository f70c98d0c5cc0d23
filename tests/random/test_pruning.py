"""Pruning leaves exactly what matters."""

from specc.verify.random_specs.pruning import pruned, without

TREE = {"a": 1, "b": {"c": [1, 2, 3], "d": {"e": True, "f": None}}, "g": "x"}


def test_what_matters_is_left():
    def fails(tree):
        return tree.get("b", {}).get("d", {}).get("e") is True and 2 in tree["b"].get("c", [])

    assert pruned(TREE, fails) == {"b": {"c": [2], "d": {"e": True}}}


def test_nothing_is_left_when_nothing_matters():
    assert pruned(TREE, lambda tree: True) == {}


def test_all_is_left_when_all_matters():
    assert pruned(TREE, lambda tree: tree == TREE) == TREE


def test_the_tree_itself_stays():
    before = repr(TREE)
    pruned(TREE, lambda tree: True)
    assert repr(TREE) == before


def test_what_is_not_there_cannot_be_left_out():
    assert without(TREE, ("b", "x", "y")) == TREE
    assert without(TREE, ("b", "c", 7)) == TREE
