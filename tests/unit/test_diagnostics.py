"""Positions, hints and how an error reads."""

from specc.diagnostics import (
    Diagnostic,
    Position,
    SpecError,
    closest,
    did_you_mean,
    dotted,
    in_order,
    listed,
)


def test_an_error_shows_place_line_caret_and_hint():
    error = SpecError(
        [Diagnostic(("norm", "kind"), "no norm 'rmss'", "did you mean 'rms'?", Position(2, 7))],
        "a.yaml",
        "specc: 1\nnorm: rmss\n",
    )
    assert str(error) == (
        "a.yaml:2:7: error: no norm 'rmss'\n"
        "    2 | norm: rmss\n"
        "      |       ^\n"
        "  hint: did you mean 'rms'?"
    )


def test_without_a_place_there_is_no_line():
    assert str(SpecError([Diagnostic((), "empty")], "a.yaml")) == "a.yaml: error: empty"


def test_wide_characters_and_tabs_do_not_move_the_caret():
    text = "a: 日本\tx"
    caret = str(SpecError([Diagnostic((), "x", None, Position(1, 7))], "a", text)).split("\n")[-1]
    assert caret == "      |        \t^"


def test_a_long_line_is_cut_around_the_caret():
    text = "x" * 500 + "!" + "y" * 500
    shown = str(SpecError([Diagnostic((), "x", None, Position(1, 501))], "a", text)).split("\n")
    assert len(shown[1]) < 180
    assert shown[1][shown[2].index("^")] == "!"


def test_a_column_beyond_the_line_points_at_its_end():
    shown = str(SpecError([Diagnostic((), "x", None, Position(1, 99))], "a", "ab")).split("\n")
    assert shown[2].index("^") == shown[1].index("b") + 1


def test_equal_diagnostics_stand_once():
    once = Diagnostic(("a",), "x")
    assert SpecError([once, once]).diagnostics == (once,)


def test_order_is_the_files_and_what_has_no_place_comes_last():
    late, early = (Diagnostic((), str(n), None, Position(n, 1)) for n in (5, 2))
    nowhere = Diagnostic((), "nowhere")
    assert in_order([nowhere, late, early]) == (early, late, nowhere)


def test_located_looks_up_what_has_no_place():
    error = SpecError([Diagnostic(("b",), "x"), Diagnostic(("a",), "y", None, Position(1, 1))])
    placed = error.located("f", "text", lambda path: Position(7, 3) if path == ("b",) else None)
    assert [each.position for each in placed.diagnostics] == [Position(1, 1), Position(7, 3)]
    assert placed.source == "f"


def test_words():
    assert did_you_mean("rmss", ["layer", "rms"]) == "did you mean 'rms'?"
    assert did_you_mean("zzz", ["layer", "rms"]) is None
    assert closest("NORM", ["norm", "block"]) == "norm"
    assert listed(["a", "b", "c"]) == "a, b or c"
    assert listed(["a"], "and") == "a"
    assert dotted(("layers", "pattern", 2, "x")) == "layers.pattern[2].x"
