import pytest

from specc.verify.shapes.grammar import (
    GrammarError,
    hides_shape,
    parse_comment,
    parse_docstring,
    starts_with_shape,
)


def readings(text):
    return [
        [[dimension.text for dimension in shape] for shape in reading.shapes]
        for reading in parse_comment(text).readings
    ]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[B, T, D]", [[["B", "T", "D"]]]),
        ("[B, 1, capacity, E/2]", [[["B", "1", "capacity", "E/2"]]]),
        ("[B, T, H*E + 2*K*E]", [[["B", "T", "H*E + 2*K*E"]]]),
        ("2 x [B, T]", [[["B", "T"], ["B", "T"]]]),
        ("[B], 2 x [T]", [[["B"], ["T"], ["T"]]]),
        ("[T] or [B, T]", [[["T"]], [["B", "T"]]]),
        ("[T], or [B, T] with padding", [[["T"]], [["B", "T"]]]),
        ("2 x [T] or 2 x [B]", [[["T"], ["T"]], [["B"], ["B"]]]),
        ("[B, T], True = may look", [[["B", "T"]]]),
        ("[B, T] bool, False = padding", [[["B", "T"]]]),
        ("[]", [[[]]]),
    ],
)
def test_shapes_are_read(text, wanted):
    assert readings(text) == wanted


@pytest.mark.parametrize(
    "text",
    ["[B T]", "[B, t-1]", "[CLS]", "[B]x", "[B] then [T]", "0 x [B]", "[E/0]", "[B, ]", "[B/t]"],
)
def test_other_text_is_refused(text):
    with pytest.raises(GrammarError):
        parse_comment(text)


def test_a_dimension_is_computed():
    dimension = parse_comment("[H*E + 2*K*E]").readings[0].shapes[0][0]
    assert dimension.value({"H": 6, "K": 3, "E": 10}) == 120
    half = parse_comment("[E/2]").readings[0].shapes[0][0]
    assert half.value({"E": 10}) == 5
    assert half.value({"E": 11}) is None


def test_each():
    assert parse_comment("[B, T] each").readings[0].each
    assert not parse_comment("[B, T] eachother").readings[0].each
    with pytest.raises(GrammarError):
        parse_comment("2 x [B, T] each")


def test_which_comments_mean_to_be_shapes():
    assert starts_with_shape("2 x [B]")
    assert not starts_with_shape("§3 [B, T]")
    assert hides_shape("heads [B, T]")
    assert not hides_shape("[B, T] heads")
    assert not hides_shape('"the [CLS] token", see [12]')


def test_a_docstring_moves():
    move = parse_docstring("Read the source: [B, M] -> the memory [B, M, D].")
    assert (move.arguments.text, move.result.text) == ("[B, M]", "[B, M, D]")
    move = parse_docstring("Count: [T], or [B, T] with padding.")
    assert (move.arguments, move.result.text) == (None, "[T], or [B, T]")
    assert parse_docstring("Say what follows [12] for a list[int].") is None


@pytest.mark.parametrize("text", ["Store [B, T], return [B, S].", "[B] -> [T] -> [S]"])
def test_a_docstring_without_a_clear_move_is_refused(text):
    with pytest.raises(GrammarError):
        parse_docstring(text)
