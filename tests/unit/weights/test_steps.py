"""Steps on tensors beside what they say of shapes, and their inverses."""

import pytest
import torch

from specc.convert.arithmetic import run_steps
from specc.ir.positions import RotarySlice
from specc.weights import Arrangement
from specc.weights.steps import (
    CutRows,
    Join,
    Offset,
    PadRows,
    Split,
    Stack,
    Transpose,
    TurnPairs,
    Unstack,
    inverses,
    loses,
    shapes_after,
)

FIRST, LAST = RotarySlice.FIRST, RotarySlice.LAST
CASES = {
    "transpose": ([Transpose(0)], [(4, 6)]),
    "transpose of experts": ([Transpose(0)], [(3, 4, 6)]),
    "blocks": ([Split(0, 0, 1, (4, 2, 2))], [(8, 3)]),
    "blocks of a bias": ([Split(0, 0, 1, (4, 2, 2))], [(8,)]),
    "by head": ([Split(0, 0, 2, (2, 2, 2), Arrangement.PER_HEAD)], [(12, 3)]),
    "by group": ([Split(0, 0, 2, (4, 2, 2), Arrangement.PER_GROUP)], [(16, 3)]),
    "interleaved columns": ([Split(0, 1, 5, (1, 1), Arrangement.INTERLEAVED)], [(3, 10, 2)]),
    "join": ([Join(0, 0, 1, (4, 2))], [(4, 3), (2, 3)]),
    "stack": ([Stack(0, 3)], [(4, 2)] * 3),
    "unstack": ([Unstack(0, 3)], [(3, 4, 2)]),
    "pairs": ([TurnPairs(0, 0, 6, 4, FIRST, True)], [(12, 5)]),
    "pairs behind": ([TurnPairs(0, 0, 6, 4, LAST, True)], [(12, 5)]),
    "pairs of gains": ([TurnPairs(0, 1, 6, 6, FIRST, False)], [(3, 6)]),
    "the second of two": ([Transpose(1)], [(4, 6), (2, 5)]),
    "several": ([Transpose(0), Split(0, 0, 1, (4, 2)), Transpose(1), Stack(1, 1)], [(3, 6)]),
}


@pytest.mark.parametrize(("steps", "shapes"), CASES.values(), ids=CASES)
def test_there_and_back(steps, shapes):
    tensors = [torch.randn(shape) for shape in shapes]
    found = run_steps(steps, tensors)
    assert [tuple(t.shape) for t in found] == list(shapes_after(steps, shapes))
    back = run_steps(inverses(steps), found)
    assert all(torch.equal(a, b) for a, b in zip(back, tensors, strict=True))
    assert shapes_after(inverses(steps), shapes_after(steps, shapes)) == tuple(shapes)
    assert not any(loses(step) for step in steps)


def test_rows_by_group_go_where_they_should():
    rows = torch.arange(8)  # two groups: two queries, a key, a value, each of one feature
    q, k, v = run_steps([Split(0, 0, 2, (2, 1, 1), Arrangement.PER_GROUP)], [rows])
    assert (q.tolist(), k.tolist(), v.tolist()) == ([0, 1, 4, 5], [2, 6], [3, 7])


def test_pairs_by_their_definition():
    step = TurnPairs(0, 0, 6, 4, LAST, True)  # two features that do not turn, then two pairs
    assert step.order(12) == (0, 1, 2, 4, 3, 5, 6, 7, 8, 10, 9, 11)
    (found,) = run_steps([step], [torch.arange(12)])
    assert tuple(found.tolist()) == step.order(12)


def test_offset_is_added_in_float64_and_rounded_once():
    given = torch.tensor([1e-3, 0.5, 3.0], dtype=torch.bfloat16)
    (found,) = run_steps([Offset(0, 1.0)], [given])
    assert found.dtype is torch.bfloat16
    assert torch.equal(found, (given.double() + 1).bfloat16())
    assert loses(Offset(0, 1.0))


def test_cut_rows_come_back_as_zeros():
    given = torch.randn(5, 2)
    (found,) = run_steps([CutRows(0, 2)], [given])
    assert torch.equal(found, given[2:])
    (back,) = run_steps(inverses([CutRows(0, 2)]), [found])
    assert torch.equal(back, torch.cat([torch.zeros(2, 2), given[2:]]))
    assert inverses([PadRows(0, 2)]) == (CutRows(0, 2),)
    assert loses(CutRows(0, 2))


@pytest.mark.parametrize(
    ("step", "shapes"),
    [
        (Split(0, 0, 2, (2, 1)), [(7,)]),
        (Join(0, 0, 1, (2, 1)), [(2,), (2,)]),
        (Stack(0, 2), [(2,), (3,)]),
        (Unstack(0, 2), [(3, 4)]),
        (TurnPairs(0, 0, 6, 4, FIRST, True), [(10,)]),
    ],
)
def test_shapes_that_do_not_fit(step, shapes):
    with pytest.raises(ValueError, match=r"\("):
        shapes_after([step], shapes)
